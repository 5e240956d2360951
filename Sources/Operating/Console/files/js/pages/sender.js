// One sender: figures, keys, sessions, webhook, service accounts, what waits, suspension.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, time } from '../format.js';
import { term } from '../glossary.js';
import { forRole } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm, showOnce } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { historyList } from '../components/history-list.js';
import { coverage } from '../components/life.js';
import { act, load, notice } from '../components/notice.js';
import { badge, facts, section, table } from '../components/table.js';
import { waitingTable } from './device-view.js';
import { accounts } from './service-accounts.js';
import { webhook } from './webhook.js';

const daySeconds = 86400;

/** Creates the page. */
export function sender({ segments: [, id], signal }) {
  const about = h('div', {});
  const sessions = h('div', {});
  const waiting = h('div', {});
  const refresh = () => load(about, Promise.all([
    call('senders list', {}, signal),
    call('senders stats', { sender_id: id }, signal),
  ]),
    ([{ senders: all }, stats]) => aboutBox(all.find((row) => row.sender_id === id), stats, refresh));
  refresh();
  load(sessions, call('sessions list', { limit: 10000 }, signal), (answer) => sessionTable(id, answer, signal));
  load(waiting, call('messages list', { sender_id: id, limit: 50 }, signal), (answer) => waitingTable(answer, { sender_id: id }));
  return [
    h('p', {}, h('a', { href: link(['senders']) }, '← All senders')),
    section(`Sender ${id}`, about), section('Server keys', keys(id, refresh)), section('Sessions of its app servers', sessions),
    section('Webhook', webhook(id, signal)), section('Service accounts', accounts(id, signal)),
    section('Messages and receipts that wait for it', waiting),
    section('Recent messages', historyList({ name: 'messages find', args: { sender_id: id }, signal })),
    section('Messages to devices by day', totals(id, signal)),
    section('Remove', removal(id)),
  ];
}

function aboutBox(row, { senders: [figures], since }, refresh) {
  if (!row || !figures) return notice('warn', 'Unknown sender', h('p', {}, 'It was removed, or never added.'));
  const place = h('div', {});
  const name = row.suspended ? 'senders resume' : 'senders suspend';
  const toggle = forRole(name, button(row.suspended
    ? 'Resume' : 'Suspend', (event) => act(event.currentTarget, place, async () => {
    const args = { sender_id: row.sender_id };
    if (!row.suspended && !(await confirm('Suspend the sender?',
      'Its connections end, and its app servers are refused until it is resumed. Accepted messages are still delivered.',
      'Suspend',
      [name, args],
    ))) return;
    await call(name, args);
    await refresh();
  })));
  return [
    facts(
      ['State', row.suspended ? badge('warn', 'suspended') : badge('good', 'active')],
      ['Label', row.label || '–'], ['Project', row.project], ['Added', time(row.created_at)],
      ['Sessions', `${count(figures.sessions)}, ${count(figures.draining)} of them draining`],
      ['Window', `${count(figures.unacknowledged)} unacknowledged of ${count(figures.window)}`],
      ['Waiting upstream', `${count(figures.waiting)}${figures.waiting_is_exact ? '' : ' or more'}`]),
    h('div', { class: 'pair' }, counts('To devices', figures.downstream, 'milestone', since),
      counts('From devices', figures.upstream, 'milestone', since),
      counts('Refused, by reason', figures.refused, 'refusal', since)),
    h('div', { class: 'row' }, ctl('senders stats', { sender_id: row.sender_id }), toggle), place,
  ];
}

function counts(title, values, kind, since) {
  const rows = Object.entries(values).filter(([, value]) => value > 0);
  return h('div', {}, h('h3', {}, title), table(`${title} since ${time(since)}`, [
    { title: kind === 'refusal' ? 'Reason' : 'Milestone', cell: ([word]) => term(word, [kind]) },
    { title: 'Count', by: ([, value]) => value, number: true, cell: ([, value]) => count(value) },
  ], rows, { empty: 'None since the start.' }));
}

/** The messages to devices by outcome and day, from the history. */
function totals(id, signal) {
  const place = h('div', {});
  const outcomes = ['accepted', 'delivered', 'forwarded', 'refused', 'expired', 'replaced', 'discarded', 'removed'];
  load(place, call('messages totals', { sender_id: id }, signal), (answer) => [
    table('Messages to devices by day', [
      { title: 'Day (UTC)', cell: (row) => row.day.slice(0, 10) },
      ...outcomes.map((word) => ({ title: word[0].toUpperCase() + word.slice(1), number: true, cell: (row) => count(row.messages[word]) })),
    ], answer.days, { empty: 'The history has none.' }),
    coverage(answer.history), ctl('messages totals', { sender_id: id }),
  ]);
  return place;
}

function keys(id, refresh) {
  const place = h('div', {});
  const command = h('div', {}, ctl('senders rotate-key', { sender_id: id }));
  return form(({ overlap }, pressed) => act(pressed, place, async () => {
    const args = { sender_id: id, overlap_seconds: Number(overlap ?? daySeconds) };
    fill(command, ctl('senders rotate-key', args));
    if (!(await confirm('Give the sender a new key?',
      `Its old keys keep working for ${count(args.overlap_seconds)} seconds.`,
      'Rotate',
      ['senders rotate-key', args],
    ))) return;
    const rotated = await call('senders rotate-key', args);
    await showOnce('The new server key',
      `It is shown only now. The old keys stop working on ${time(rotated.old_keys_expire_at)}.`,
      rotated.key,
    );
    await refresh();
  }), h('div', { class: 'row' },
    textField('Old keys work for (seconds)', 'overlap', { value: String(daySeconds), inputmode: 'numeric' }),
    forRole('senders rotate-key', h('button', { type: 'submit' }, 'Rotate the key'))), place, command);
}

function sessionTable(id, answer, signal) {
  const rows = answer.sessions.filter((row) => row.sender_id === id);
  const place = h('div', {});
  const drain = (args) => async (event) => act(event.currentTarget, place, async () => {
    if (!(await confirm('Drain?',
      'The app server is asked to reconnect; then the connection is closed.',
      'Drain',
      ['drain', args],
    ))) return null;
    const { sessions } = await call('drain', args, signal);
    return notice('good', `${sessions} draining`);
  });
  return [
    table('Sessions', [
      { title: 'Session', by: (row) => row.id, cell: (row) => row.id },
      { title: 'Listener', by: (row) => row.kind, cell: (row) => row.kind },
      { title: 'Peer', by: (row) => row.peer, cell: (row) => row.peer },
      { title: 'Since', by: (row) => row.since, cell: (row) => time(row.since) },
      { title: 'Action', cell: (row) => forRole('drain', button('Drain', drain({ session: row.id }), { kind: 'small' })) },
    ], rows, { empty: 'No app server of the sender is connected.' }),
    answer.left_out > 0 && h('p', { class: 'quiet' }, `${count(answer.left_out)} sessions of all peers are not listed.`),
    h('div', { class: 'row' },
      ctl('sessions list'),
      rows.length > 0 && forRole('drain', button('Drain all of them', drain({ sender_id: id }))),
    ), place,
  ];
}

function removal(id) {
  const place = h('div', {});
  const args = { sender_id: id };
  const remove = button('Remove the sender', (event) => act(event.currentTarget, place, async () => {
    const text = 'Its connections end, and its keys are gone for good. What it has sent is still delivered.';
    if (!(await confirm('Remove the sender?', text, 'Remove', ['senders remove', args]))) return;
    await call('senders remove', args);
    go(['senders']);
  }), { kind: 'danger' });
  return [h('div', { class: 'row' }, ctl('senders remove', args), forRole('senders remove', remove)), place];
}
