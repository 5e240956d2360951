// The devices, a page at a time, with conditions, and with the search of numbers by their first digits.
import { call } from '../api.js';
import { h } from '../dom.js';
import { count, distance } from '../format.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { checkField, choiceField, form, textField } from '../components/form.js';
import { load } from '../components/notice.js';
import { badge, mono, pages, table } from '../components/table.js';
import { withPrefix } from './device-search.js';

/** Rows of one page. */
const pageRows = 50;
const conditions = ['sender_id', 'app', 'channel', 'presence', 'seen_before', 'seen_after', 'waiting'];

/** Creates the page. */
export function devices({ query, signal }) {
  const list = h('div', {});
  const prefix = query.get('prefix') ?? '';
  const args = { limit: pageRows };
  for (const name of conditions) if (query.get(name)) args[name] = query.get(name) === 'true' ? true : query.get(name);
  const rows = /^[1-9]\d*$/.test(prefix) ? withPrefix(prefix, args, query.get('after'), signal)
    : call('devices list', { ...args, after: query.get('after') ?? undefined }, signal);
  load(list, rows, (answer) => deviceTable(answer, args, query));
  return [filters(query), list];
}

function filters(query) {
  const value = (name) => query.get(name) ?? '';
  return form((given) => go(['devices'], given), h('div', { class: 'grid', role: 'search' },
    textField('Device ID begins with', 'prefix',
      { value: value('prefix'), type: 'search', inputmode: 'numeric', pattern: '[1-9][0-9]*' },
    ),
    textField('App', 'app', { value: value('app'), help: 'Its package name.' }),
    textField('Sender ID', 'sender_id', { value: value('sender_id'), inputmode: 'numeric' }),
    choiceField('Channel', 'channel',
      [['', 'any'], ['mcs', 'own connection (mcs)'], ['web', 'web app'], ['apns', 'APNs']],
      value('channel'),
    ),
    choiceField('Presence', 'presence', [['', 'any'], ['online', 'online'], ['offline', 'offline']], value('presence')),
    textField('Seen before', 'seen_before', { value: value('seen_before'), help: 'A time such as 2026-11-20T00:00:00Z.' }),
    checkField('Only with waiting messages', 'waiting', query.get('waiting') === 'true')),
  h('div', { class: 'buttons' },
    h('button', { type: 'submit', class: 'primary' }, 'Search'),
    h('a', { class: 'button', href: link(['devices']) }, 'All devices'),
  ));
}

function deviceTable(answer, args, query) {
  const kept = Object.fromEntries(query);
  return [
    table('Devices', [
      { title: 'Device', by: (row) => row.device, cell: (row) => h('a', { href: link(['messages', row.device]) }, mono(row.device)) },
      { title: 'Presence', by: (row) => row.online, cell: (row) => badge(row.online ? 'good' : 'plain', row.online ? 'online' : 'offline') },
      { title: 'Last contact', by: (row) => row.seen_at, cell: (row) => distance(row.seen_at) },
      { title: 'Apps', by: (row) => row.registrations, number: true, cell: (row) => count(row.registrations) },
      { title: 'Channels', cell: (row) => row.channels.join(', ') || '–' },
      { title: 'Waiting', by: (row) => row.waiting, number: true, cell: (row) => count(row.waiting) },
      { title: 'Added', by: (row) => row.created_at, cell: (row) => distance(row.created_at) },
    ], answer.devices, { empty: answer.next_after ? 'No match among the devices of this page; more follow.'
      : 'No device matches.' }),
    h('p', { class: 'quiet' }, `${count(answer.examined)} devices examined for this page.`),
    pages(['devices'], kept, { after: query.get('after'), next: answer.next_after }),
    ctl('devices list', { ...args, after: query.get('after') ?? undefined }),
  ];
}
