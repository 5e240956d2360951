// A device: its contact, connection, apps, waiting messages and trace, and a form for a test message.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { bytes, count, distance, plural, short, time } from '../format.js';
import { term } from '../glossary.js';
import { mayRun } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button } from '../components/form.js';
import { historyList } from '../components/history-list.js';
import { act, load, notice, problemBox } from '../components/notice.js';
import { badge, facts, mono, section, table } from '../components/table.js';
import { trace } from '../components/trace.js';
import { deviceOf } from './device-search.js';
import { sendForm } from './send.js';

/** Rows of waiting messages on one page. */
const rowLimit = 50;

/** Creates the view of a device; with a token, of one registration of it. */
export function deviceView(device, { signal }) {
  const about = h('div', {});
  const waiting = h('div', {});
  const sending = h('div', {});
  const tracing = trace(device);
  const refreshWaiting = () => load(waiting,
    call('messages list', { device, limit: rowLimit }, signal),
    (answer) => waitingTable(answer, { device, limit: rowLimit }),
  );
  if (mayRun('devices show')) {
    load(about, call('devices show', { device }, signal), (shown) => {
      fill(sending, sendSection(device, shown, tracing, signal));
      return aboutBox(device, shown);
    });
  } else {
    fill(about,
      problemBox({
        status: 403,
        message: 'the details of a device contain tokens, which a viewer may not see',
        hint: 'log in with the token of an operator',
      }),
    );
  }
  refreshWaiting();
  tracing.addEventListener('step', () => { clearTimeout(tracing.pending); tracing.pending = setTimeout(refreshWaiting, 500); });
  return [
    section('Device', about),
    h('div', { class: 'pair' },
      section('Live trace', tracing, ctl('devices trace', { device, seconds: 600 })),
      sending),
    section('Waiting messages', waiting),
    section('Recent messages', historyList({ name: 'messages history', args: { device }, tracing, signal })),
  ];
}

/** Creates a box with whether a device is connected, for a viewer too. */
export function deviceSummary(device, signal) {
  const place = h('div', {});
  load(place, deviceOf(device, signal), (row) => {
    if (!row) return notice('warn', 'The device was removed');
    return facts(
      ['Device', h('a', { href: link(['messages', device]) }, mono(device))],
      ['Connected', row.online ? badge('good', 'online') : badge('plain', 'offline')],
      ['Last contact', row.seen_at ? `${distance(row.seen_at)} (${time(row.seen_at)})` : 'unknown: the clock was in doubt'],
      ['Waiting', plural(row.waiting, 'message')], ['Apps', `${plural(row.registrations, 'registration')}, ${row.channels.join(', ')}`]);
  });
  return h('div', {}, h('h3', {}, 'The device'), place);
}

/** Whether a device is shown by a token that is none of its registrations any more. */
function isUnregistered(device, { registrations: rows }) {
  return device.includes(':') && !rows.some((row) => row.token === device);
}

function aboutBox(device, shown) {
  const { connection, mailbox } = shown;
  const place = h('div', {});
  const forget = button('Forget the device', (event) => act(event.currentTarget, place, async () => {
    const args = { device: shown.device };
    if (await confirm('Forget the device?',
      'The device, its registrations and its waiting messages are removed, and cannot be restored.',
      'Forget',
      ['devices forget', args],
    )) {
      await call('devices forget', args);
      go(['devices']);
    }
  }), { kind: 'danger small' });
  return [
    isUnregistered(device, shown) && notice('warn', 'The token is unregistered', h('p', {},
      'It is of this device, but of none of its registrations: the app was removed, or has a newer token. A message to it is refused, or answered with the newer one.')),
    facts(
      ['Device', h('a', { href: link(['messages', shown.device]) }, mono(shown.device))],
      [
        'Connected',
        connection ? badge('good', 'online') : badge('plain', 'offline'),
        connection && ` from ${connection.peer} since ${time(connection.since)}, session ${connection.id}`,
      ],
      ['Last contact', shown.seen_at ? `${distance(shown.seen_at)} (${time(shown.seen_at)})` : 'unknown: the clock was in doubt'],
      ['Added', time(shown.created_at)],
      shown.expires_at && ['Expires', `${distance(shown.expires_at)} without further contact`],
      ['Waiting', `${plural(mailbox.messages, 'message')}, ${count(mailbox.with_collapse_key)} of them with a collapse key`,
        mailbox.deleted_markers > 0 && `, ${plural(mailbox.deleted_markers, 'notice')} of deleted messages`,
        mailbox.send_errors > 0 && `, ${plural(mailbox.send_errors, 'send error')}`,
        mailbox.pending_receipts > 0 && `, ${plural(mailbox.pending_receipts, 'receipt')} owed`]),
    h('h3', {}, 'Apps'),
    registrations(device, shown),
    h('div', { class: 'row' }, ctl('devices show', { device }), forget), place,
  ];
}

function registrations(device, { registrations: rows }) {
  return table('Registrations of the device', [
    { title: 'App', cell: (row) => [row.category, row.token === device && badge('good', 'this token')] },
    { title: 'Subtype', by: (row) => row.subtype, cell: (row) => row.subtype || '–' },
    { title: 'Token', cell: (row) => h('a', { href: link(['messages', row.token]) }, mono(short(row.token))) },
    {
      title: 'Sender',
      cell: (row) => (/^\d+$/.test(row.sender_id) ? h('a',
        { href: link(['senders', row.sender_id]) },
        row.sender_id,
      ) : short(row.sender_id)),
    },
    { title: 'Payload', by: (row) => row.kind, cell: (row) => row.kind },
    { title: 'Waiting', by: (row) => row.waiting, number: true, cell: (row) => count(row.waiting) },
    { title: 'Registered', by: (row) => row.created_at, cell: (row) => time(row.created_at) },
  ], rows, { empty: 'No app of the device is registered.' });
}

function sendSection(device, shown, tracing, signal) {
  // A message is sent to what the page is about, and to no other app.
  if (isUnregistered(device, shown)) return section('Send a test message', sendForm({ to: device, tracing, signal }));
  const chosen = shown.registrations.find((row) => row.token === device) ?? shown.registrations[0];
  if (!chosen) return null;
  const sender = /^\d+$/.test(chosen.sender_id) ? chosen.sender_id : '';
  return section('Send a test message', sendForm({ to: chosen.token, sender, tracing, signal }));
}

/** Creates the table of waiting messages of a device or a sender, which `args` names. */
export function waitingTable(answer, args) {
  return [
    table('Waiting messages', [
      { title: 'Message', cell: (row) => (row.message_id ? h('a', { href: link(['messages', row.message_id]) }, mono(row.message_id)) : row.kind) },
      { title: 'State', by: (row) => row.state, cell: (row) => term(row.state, ['state']) },
      { title: 'Kind', by: (row) => row.kind, cell: (row) => row.kind.replaceAll('_', ' ') },
      { title: 'App', by: (row) => row.app, cell: (row) => row.app || '–' },
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => row.sender_id ?? '–' },
      { title: 'Collapse key', by: (row) => row.collapse_key, cell: (row) => row.collapse_key ?? '–' },
      { title: 'Priority', by: (row) => row.priority, cell: (row) => row.priority ?? '–' },
      { title: 'Size', by: (row) => row.bytes, number: true, cell: (row) => (row.bytes === undefined ? '' : bytes(row.bytes)) },
      { title: 'Accepted', by: (row) => row.stored_at, cell: (row) => distance(row.stored_at) },
      { title: 'Expires', by: (row) => row.expires_at, cell: (row) => distance(row.expires_at) },
    ], answer.messages, { empty: 'Nothing waits.' }),
    answer.next_after && h('p', { class: 'quiet' }, `These are the oldest ${answer.messages.length}; more follow.`),
    ctl('messages list', args),
  ];
}
