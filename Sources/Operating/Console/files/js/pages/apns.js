// The credentials for APNs: when they end, whether Apple accepts them, new ones, and tokens that have ended.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, distance, short, time, words } from '../format.js';
import { forRole, mayRun } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { act, load, notice } from '../components/notice.js';
import { badge, mono, pages, section, table } from '../components/table.js';
import { credentialForm, testBox } from './apns-add.js';

const health = { accepted: 'good', refused: 'bad', clock_doubted: 'warn', unused: 'plain' };
/** Days before the end of a certificate from which on it is marked. */
const warningDays = 14;

/** Creates the page. */
export function apns({ query, signal }) {
  const list = h('div', {});
  const refresh = () => load(list, call('apns list', {}, signal), (answer) => credentials(answer, refresh));
  refresh();
  return [
    section('Credentials', list),
    section('Add a credential', credentialForm(refresh)),
    section('Device tokens that have ended', feedback(query, signal)),
  ];
}

function credentials(answer, refresh) {
  const place = h('div', {});
  const states = (row) => answer.states.filter((state) => state.credential === row.credential);
  const test = (row) => button('Test',
    (event) => act(event.currentTarget, place, async () => testBox(row, await call('apns test', { credential: row.credential }))),
    { kind: 'small' },
  );
  const remove = (row) => button('Remove', (event) => act(event.currentTarget, place, async () => {
    const args = { credential: row.credential };
    if (!(await confirm('Remove the credential?',
      'Without another one, messages to its apps are refused.',
      'Remove',
      ['apns remove', args],
    ))) return;
    await call('apns remove', args);
    await refresh();
  }), { kind: 'small danger' });
  return [
    answer.problem && notice('warn', 'The states are unknown', h('p', {}, answer.problem)),
    answer.unreadable.map((file) => notice('warn', `Unreadable: ${file.file}`, h('p', {}, file.problem))),
    table('Credentials', [
      { title: 'Credential', by: (row) => row.credential, cell: (row) => mono(row.credential) },
      { title: 'Kind', by: (row) => row.kind, cell: (row) => row.kind },
      { title: 'App', cell: (row) => row.bundle_id ?? `all of team ${row.team_id}` },
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => row.sender_id ?? 'all' },
      { title: 'Days left', cell: (row) => daysLeft(row) },
      { title: 'At Apple', cell: (row) => states(row).map((state) => h('div',
        {}, badge(health[state.health], words(state.health)), ` ${state.environment}`, state.reason && ` ${state.reason}`,
        state.waiting > 0 && ` ${count(state.waiting)} waiting`)) },
      {
        title: 'Actions',
        cell: (row) => h('div', { class: 'buttons' }, forRole('apns test', test(row)), forRole('apns remove', remove(row))),
      },
    ], answer.credentials, { empty: 'There is no credential: messages to iOS apps are refused.' }),
    place, ctl('apns list'),
  ];
}

function daysLeft({ days_left: days, expires_at: end }) {
  if (days === undefined) return 'does not end';
  return [badge(days < 0 ? 'bad' : days < warningDays ? 'warn' : 'good', count(days)), ` ${time(end)}`];
}

function feedback(query, signal) {
  if (!mayRun('apns feedback')) {
    return notice('warn', 'Not permitted', h('p', {}, 'The list has device tokens, which are for the role operator.'));
  }
  const list = h('div', {});
  const sender = query.get('sender');
  const args = { sender_id: sender, limit: 50, since: query.get('since') ?? undefined };
  if (sender) load(list, call('apns feedback', args, signal), (answer) => feedbackTable(answer, args, query));
  else fill(list, h('p', { class: 'quiet' }, 'Give the sender whose tokens you look for.'));
  return [form((values) => go(['apns'], values), h('div', { class: 'row' },
    textField('Sender ID', 'sender',
      { value: sender ?? '', inputmode: 'numeric' },
    ), h('button', { type: 'submit' }, 'Show'))), list];
}

function feedbackTable(answer, args, query) {
  return [
    table('Device tokens that have ended', [
      { title: 'Device token', cell: (row) => mono(short(row.apns_token)) },
      {
        title: 'Registration',
        cell: (row) => h('a', { href: link(['messages', row.registration_id]) }, mono(short(row.registration_id))),
      },
      { title: 'App', by: (row) => row.bundle_id, cell: (row) => row.bundle_id },
      { title: 'Environment', by: (row) => row.environment, cell: (row) => row.environment },
      { title: 'Apple’s reason', cell: (row) => `${row.status} ${row.reason}` },
      { title: 'Invalid since', cell: (row) => (row.invalid_since ? time(row.invalid_since) : 'not reported') },
      { title: 'Seen', by: (row) => row.seen_at, cell: (row) => distance(row.seen_at) },
    ], answer.items, { empty: 'No token has ended in the last 30 days.' }),
    pages(['apns'], Object.fromEntries(query),
      { after: query.get('since'), next: answer.next, cursor: 'since' },
    ), ctl('apns feedback', args),
  ];
}
