// Topics with their subscribers, and the messages to topics that devices may still be sent.
import { call } from '../api.js';
import { h, said } from '../dom.js';
import { count, distance } from '../format.js';
import { go, link } from '../router.js';
import { sumsOf, topicKey } from '../sums.js';
import { ctl } from '../components/command.js';
import { form, textField } from '../components/form.js';
import { load } from '../components/notice.js';
import { pages, section, table } from '../components/table.js';

/** Rows of one page. */
const pageRows = 50;
/** Messages under way that are summed up by topic. */
const runningRows = 10000;
/** Days of which the messages are summed up that are over. */
const endedDays = 7;
/** Milliseconds between two looks at the running messages. */
const refreshMilliseconds = 2000;

/** Creates the page. */
export function topics({ query, signal }) {
  const list = h('div', {});
  const running = h('div', {});
  const ended = h('div', {});
  const args = { sender_id: query.get('sender') ?? undefined, limit: pageRows, after: startOf(query) };
  load(list, Promise.all([call('topics list', args, signal), call('topics running', { limit: runningRows }, signal)]),
    ([answer, { messages }]) => topicTable(answer, messages, args, query));
  const refresh = () => load(running, call('topics running', {}, signal), runningTable);
  const timer = setInterval(() => document.hidden || running.contains(document.activeElement) || refresh(), refreshMilliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
  refresh();
  load(ended, call('messages totals', totals(query), signal), (answer) => endedTable(answer, query));
  return [
    form((values) => go(['topics'], values), h('div', { class: 'row', role: 'search' },
      textField('Sender ID', 'sender', { value: query.get('sender') ?? '', inputmode: 'numeric' }),
      textField('Topic begins with (needs the sender ID)', 'prefix',
        { value: query.get('prefix') ?? '' },
      ), h('button', { type: 'submit' }, 'Search'))),
    section('Topics', list),
    section('Messages to topics', running),
    section(`What the last ${endedDays} days have reached`, ended),
    section('Groups', h('p', {}, 'A group is addressed by its notification key, which its app server has. Paste the key under ',
      h('a', { href: link(['messages']) }, 'Messages'),
      ' to send a test message; the answer counts the members that got it. Groups are counted under ', h('a', { href: link(['operations']) }, 'Operations'), '.')),
  ];
}

const totals = (query) => ({ sender_id: query.get('sender') ?? undefined, days: endedDays });

/** The topics of the messages of some days, of which the time of some is over. */
function endedTable({ topics: rows }, query) {
  return [
    table('Messages of the last days', [
      { title: 'To', by: (row) => row.to, cell: (row) => row.to },
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Messages sent', by: (row) => row.messages, number: true, cell: (row) => count(row.messages) },
      { title: 'Devices reached by those that are over', by: (row) => row.reached, number: true, cell: (row) => count(row.reached) },
    ], rows, { empty: 'The history has none.' }),
    ctl('messages totals', totals(query)),
  ];
}

/** Topics are in the order of their names, so a search by prefix starts just before it. */
function startOf(query) {
  const [sender, prefix, after] = ['sender', 'prefix', 'after'].map((name) => query.get(name));
  if (after) return after;
  if (!sender || !prefix) return undefined;
  const last = prefix.charCodeAt(prefix.length - 1);
  return `${sender}/${prefix.slice(0, -1)}${String.fromCharCode(Math.max(0x21, last - 1))}~`;
}

function topicTable(answer, messages, args, query) {
  const sums = sumsOf(messages);
  const sum = (row) => sums.get(topicKey(row.sender_id, row.topic));
  const prefix = query.get('prefix') ?? '';
  const rows = answer.topics.filter((row) => row.topic.startsWith(prefix) || !args.sender_id);
  const isPast = prefix && args.sender_id && rows.length < answer.topics.length && !answer.topics.at(-1).topic.startsWith(prefix);
  return [
    table('Topics', [
      {
        title: 'Topic',
        by: (row) => row.topic,
        cell: (row) => h('a', { href: link(['messages', `/topics/${row.topic}`], { sender: row.sender_id }) }, row.topic),
      },
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Subscribers', by: (row) => row.subscribers, number: true, cell: (row) => count(row.subscribers) },
      { title: 'Messages under way', by: (row) => sum(row)?.messages ?? 0, number: true, cell: (row) => count(sum(row)?.messages) },
      { title: 'Devices reached', by: (row) => sum(row)?.reached ?? 0, number: true, cell: (row) => count(sum(row)?.reached) },
    ], rows, { empty: 'No topic matches.' }),
    pages(['topics'], Object.fromEntries(query), { after: query.get('after'), next: isPast ? undefined : answer.next_after }),
    ctl('topics list', args),
  ];
}

function runningTable({ messages, left_out: leftOut }) {
  return [
    table('Messages to topics', [
      { title: 'Message', cell: (row) => h('a', { href: link(['messages', row.message_id]) }, row.message_id) },
      { title: 'To', cell: (row) => (row.to === 'condition' ? said`condition on ${row.topics.join(', ')}` : row.to) },
      { title: 'Sender', cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Reached', by: (row) => row.reached, cell: (row) => progress(row) },
      { title: 'Since', by: (row) => row.since, cell: (row) => distance(row.since) },
      { title: 'Expires', by: (row) => row.expires_at, cell: (row) => distance(row.expires_at) },
    ], messages, { empty: 'None at the moment.' }),
    leftOut > 0 && h('p', { class: 'quiet' }, `${count(leftOut)} more are not listed.`), ctl('topics running'),
  ];
}

function progress({ reached, subscribers }) {
  if (!subscribers) return count(reached);
  return [h('progress', { value: reached, max: subscribers, 'aria-label': `${reached} of ${subscribers}` }), ` ${count(reached)} of ${count(subscribers)}`];
}
