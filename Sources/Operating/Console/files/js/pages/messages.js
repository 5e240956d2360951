// The answer to what an operator has pasted into the search: the page of a device, a message, a topic and so on.
import { call } from '../api.js';
import { h } from '../dom.js';
import { distance, plural, time } from '../format.js';
import { link } from '../router.js';
import { targetOf, tokenLength } from '../target.js';
import { ctl } from '../components/command.js';
import { load, notice } from '../components/notice.js';
import { badge, facts, mono, section, table } from '../components/table.js';
import { deviceOf } from './device-search.js';
import { deviceView } from './device-view.js';
import { messageView } from './message-view.js';
import { sendForm } from './send.js';
import { sender } from './sender.js';

const listRows = 10000;

/** Creates the page. */
export function messages({ segments, query, signal }) {
  const { kind, text, storedAt } = targetOf(segments[1]);
  switch (kind) {
  case 'nothing': return introduction();
  case 'token': return deviceView(text, { signal });
  case 'number': return numberView(text, { query, signal });
  case 'part': return notice('warn', 'A part of a token', h('p', {},
    `A token has ${tokenLength} characters, and these are ${text.length}. Copy it as a whole: the parts of a token name no device.`));
  case 'topic': return [running(text, signal), section('Send to the topic', sendForm({ to: text, sender: query.get('sender'), signal }))];
  case 'group': return section('Send to the group', h('p', { class: 'quiet' },
    'A notification key. The app server of the group has its members; the answer to a message counts those that it was accepted for.'), sendForm({ to: text, sender: query.get('sender'), signal }));
  case 'installation': return installationView(text, { query, signal });
  case 'address': return sessionsOf(text, signal);
  default: return messageView(text, { storedAt, query, signal });
  }
}

function introduction() {
  return [
    h('p', { class: 'quiet' },
      'Paste anything into the search above: the ID of a message shows its life and what to do next; a token or a device ID the device, its apps, what waits for it and each step of its messages as it happens. Senders, topics, groups, installations and addresses of peers are found, too.',
    ),
    section('Send a test message', sendForm({ to: '' })),
  ];
}

/** A number is that of a device or a sender, or the ID of a message. */
function numberView(text, { query, signal }) {
  const place = h('div', {});
  load(place, Promise.all([
    deviceOf(text, signal), call('senders list', {}, signal),
  ]), ([device, { senders }]) => {
    const account = senders.find((row) => row.sender_id === text);
    if (!device) return account ? sender({ segments: ['senders', text], signal }) : messageView(text, { query, signal });
    return [
      account && notice('info', 'A sender has the same number', h('p', {}, h('a', { href: link(['senders', text]) }, `Sender ${text}${account.label ? `, ${account.label}` : ''}`))),
      deviceView(text, { signal }),
    ];
  });
  return place;
}

/** The messages to a topic that devices may still be sent. */
function running(text, signal) {
  const topic = text.slice('/topics/'.length);
  const place = h('div', {});
  load(place, call('topics running', { limit: listRows }, signal), (answer) => [
    table(`Messages to ${text}`, [
      { title: 'Message', cell: (row) => h('a', { href: link(['messages', row.message_id]) }, mono(row.message_id)) },
      { title: 'Sender', cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Reached', number: true, cell: (row) => `${row.reached}${row.subscribers === null ? '' : ` of ${row.subscribers}`}` },
      { title: 'Accepted', by: (row) => row.since, cell: (row) => distance(row.since) },
      { title: 'Expires', by: (row) => row.expires_at, cell: (row) => distance(row.expires_at) },
    ], answer.messages.filter((row) => row.topics.includes(topic)), { empty: 'No message to it may still be sent to a device.' }),
    h('div', { class: 'row' }, ctl('topics running', { limit: listRows }), h('a', { href: link(['topics']) }, 'All topics')),
  ]);
  return section('Messages to the topic', place);
}

function installationView(text, { query, signal }) {
  const place = h('div', {});
  load(place, call('installations show', { installation: text }, signal).catch((error) => {
    // Unknown: it may be the ID of a message.
    if (error.status !== 409) throw error;
    return null;
  }), (shown) => (shown ? section('Firebase installation', facts(
    ['ID', mono(shown.installation)], ['State', shown.ended ? badge('warn', 'ended') : badge('good', 'active')],
    shown.sender_id && ['Sender', h('a', { href: link(['senders', shown.sender_id]) }, shown.sender_id)],
    ['Registrations', plural(shown.registrations, 'registration')], ['Created', time(shown.created_at)],
    ['Last used', shown.used_at ? distance(shown.used_at) : 'unknown: the clock was in doubt']),
  ctl('installations show', { installation: text })) : messageView(text, { query, signal })));
  return place;
}

/** The sessions of a peer's address. */
function sessionsOf(text, signal) {
  const place = h('div', {});
  const bare = text.replace(/^\[|\]$/g, '');
  const isOf = ({ peer }) => peer === text || peer.startsWith(`${bare}:`) || peer.startsWith(`[${bare}]:`);
  load(place, call('sessions list', { limit: listRows }, signal), (answer) => [
    table(`Sessions from ${text}`, [
      { title: 'Session', by: (row) => row.id, cell: (row) => mono(row.id) }, { title: 'Listener', by: (row) => row.kind, cell: (row) => row.kind },
      { title: 'Peer', by: (row) => row.peer, cell: (row) => row.peer },
      { title: 'Who', cell: who },
      { title: 'Since', by: (row) => row.since, cell: (row) => distance(row.since) },
    ], answer.sessions.filter(isOf), { empty: 'No peer with this address is logged in.' }),
    answer.left_out > 0 && h('p', { class: 'quiet' }, `${plural(answer.left_out, 'session')} more were not searched.`),
    ctl('sessions list', { limit: listRows }),
  ]);
  return section('Sessions of the address', place);
}

function who({ sender_id: sender, device }) {
  if (sender) return h('a', { href: link(['senders', sender]) }, `sender ${sender}`);
  return device ? h('a', { href: link(['messages', device]) }, `device ${device}`) : '–';
}
