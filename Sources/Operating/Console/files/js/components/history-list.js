// The recent messages of a device or a sender with their outcomes, from the history: filtered, older ones on demand, and new ones as they appear.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { distance, duration, words } from '../format.js';
import { outcome } from '../outcome.js';
import { link } from '../router.js';
import { ctl } from './command.js';
import { button, choiceField } from './form.js';
import { coverage, outcomeBadge } from './life.js';
import { problemBox } from './notice.js';
import { mono, table } from './table.js';

/** Rows that one request returns, and after which older ones are left to the command. */
const pageRows = 50;
const mostRows = 1000;
/** Milliseconds in which the history has a step after the trace. */
const settleMilliseconds = 1200;
/** Milliseconds after which it is read again without a trace. */
const refreshMilliseconds = 5000;

const filters = [
  ['', 'All outcomes'], ['open', 'Not over yet'], ['good', 'Delivered or forwarded'], ['bad', 'Refused, expired or lost otherwise'],
];

/** Creates the list of the messages that `name` returns for `args`; it is read again after each step of `tracing`, or now and then without. */
export function historyList({ name, args, tracing, signal }) {
  const state = { rows: [], next: undefined, filter: '', isOfDevice: args.device !== undefined };
  const place = h('div', {}, h('p', { class: 'quiet loading' }, 'Loading…'));
  const choice = choiceField('Outcome', 'outcome', filters);
  choice.addEventListener('change', (event) => {
    state.filter = event.target.value;
    show();
  });
  const read = (before) => call(name, { ...args, limit: pageRows, before }, signal);
  const older = button('Older messages', () => extend(), { kind: 'small' });
  const show = () => fill(place, rowsOf(state), state.next && state.rows.length < mostRows && older, state.history && coverage(state.history));
  const fail = (error) => error.name === 'AbortError' || fill(place, problemBox(error));

  /** Reads the latest messages, and keeps the older ones that are shown. */
  async function refresh() {
    try {
      const answer = await read();
      const fresh = new Set(answer.messages.map(identity));
      if (state.rows.length === 0) state.next = answer.next_before;
      state.rows = [...answer.messages, ...state.rows.filter((row) => !fresh.has(identity(row)))].slice(0, mostRows);
      state.history = answer.history;
      show();
    } catch (error) { fail(error); }
  }

  async function extend() {
    older.disabled = true;
    try {
      const answer = await read(state.next);
      const known = new Set(state.rows.map(identity));
      state.rows.push(...answer.messages.filter((row) => !known.has(identity(row))));
      state.next = answer.next_before;
      show();
    } catch (error) { fail(error); }
    older.disabled = false;
  }

  let pending;
  const later = () => { clearTimeout(pending); pending = setTimeout(refresh, settleMilliseconds); };
  tracing?.addEventListener('step', later);
  const timer = tracing ? undefined : setInterval(() => document.hidden || place.contains(document.activeElement) || refresh(), refreshMilliseconds);
  signal.addEventListener('abort', () => { clearTimeout(pending); clearInterval(timer); });
  refresh();
  return [h('div', { class: 'row' }, choice), place, ctl(name, { ...args, limit: pageRows })];
}

function identity(row) {
  return `${row.kind} ${row.device} ${row.sender_id} ${row.persistent_id ?? row.message_id} ${row.steps[0]?.time}`;
}

function rowsOf({ rows, filter, isOfDevice }) {
  const shown = rows.map((row) => ({ row, end: outcome(row) })).filter(({ end }) => fits(end, filter));
  return table('Recent messages, the latest first', [
    { title: 'Message', cell: ({ row }) => name(row) },
    { title: 'Outcome', by: ({ end }) => end.word, cell: ({ row }) => outcomeBadge(row) },
    { title: 'Detail', by: ({ end }) => end.detail, cell: ({ end }) => (end.detail ? words(end.detail) : '') },
    { title: 'What', by: ({ row }) => row.kind, cell: ({ row }) => row.kind },
    isOfDevice ? { title: 'Sender', by: ({ row }) => row.sender_id, cell: ({ row }) => (row.sender_id ? h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) : '–') }
      : { title: 'Device', by: ({ row }) => row.device, cell: ({ row }) => (row.device ? h('a', { href: link(['messages', row.device]) }, row.device) : '–') },
    { title: 'Begun', by: ({ row }) => row.steps[0]?.time, cell: ({ row }) => distance(row.steps[0]?.time) },
    { title: 'Took', by: took, number: true, cell: (one) => (one.end.isOver ? duration(took(one) * 1000) : '') },
  ], shown, { empty: filter ? 'None of the messages that are shown has this outcome.' : 'The history has no message of it.' });
}

function fits({ kind, isOver }, filter) {
  if (filter === 'open') return !isOver;
  if (filter === 'bad') return isOver && kind !== 'good' && kind !== 'plain';
  return filter === '' || kind === filter;
}

function name(row) {
  const id = row.message_id ?? row.persistent_id;
  return id ? h('a', { href: link(['messages', id]) }, mono(id)) : '–';
}

/** Milliseconds from the first step to the end; `null` without an end. */
function took({ row: { steps }, end }) {
  return end.isOver ? new Date(steps.at(-1).time) - new Date(steps[0].time) : null;
}
