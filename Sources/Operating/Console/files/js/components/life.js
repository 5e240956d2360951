// The life of a message from the history: its outcome, each step with its meaning, and what to do next.
import { call } from '../api.js';
import { h, add } from '../dom.js';
import { count, distance, plural, time } from '../format.js';
import { detailOf, meaning, reasonOf, term } from '../glossary.js';
import { outcome, reachOf } from '../outcome.js';
import { deviceOf } from '../pages/device-search.js';
import { link } from '../router.js';
import { badge, facts, mono } from './table.js';
import { stepItem } from './trace.js';

/** Messages of a device that are compared with the one that waits. */
const waitingRows = 1000;
/** Messages to topics among which one is looked for: the newest, whose subscribers are counted one by one. */
const runningRows = 50;

/** Creates the badge of an outcome, with its meaning. */
export function outcomeBadge(row) {
  const { word, kind } = outcome(row);
  return badge(kind, term(word, ['step', 'milestone']));
}

/** Creates the view of one message; what to do next is added when it is known. */
export function life(row, signal) {
  const next = h('p', { class: 'next', 'aria-live': 'polite' });
  const direction = row.kind === 'upstream' || row.kind === 'receipt' ? 'upstream' : 'downstream';
  advise(row, next, signal);
  return h('article', { class: 'life' },
    h('h3', {}, outcomeBadge(row), ' ', mono(row.message_id ?? row.persistent_id ?? 'without an ID')),
    next,
    h('ol', { class: 'trace', 'aria-label': 'Steps, the oldest first', tabindex: '0' },
      row.steps.map((step) => stepItem({ ...step, direction }))),
    facts(
      ['What', kinds[row.kind] ?? row.kind],
      row.device && ['Device', h('a', { href: link(['messages', row.device]) }, row.device),
        row.registration !== undefined && `, registration ${row.registration}`],
      row.sender_id && ['Sender', h('a', { href: link(['senders', row.sender_id]) }, row.sender_id)],
      row.persistent_id && ['ID for the device', mono(row.persistent_id)],
      row.apns_id && ['ID for Apple (apns-id)', mono(row.apns_id)],
      ['Begun', `${distance(row.steps[0]?.time)} (${time(row.steps[0]?.time)})`]));
}

const kinds = {
  downstream: 'a message to a device', upstream: 'a message from a device', receipt: 'a delivery receipt for the sender',
  topic: 'a message to a topic; each device has a copy of its own', group: 'a message to a group; each member has a copy of its own',
};

/** What becomes of a message to several devices. */
const copies = {
  topic: 'Each subscriber gets a copy, which is listed here by the same ID once the device has connected.',
  group: 'Each member of the group gets a copy, which is listed here by the same ID.',
};

/** What can be done about a message that has ended. */
const afterEnd = {
  delivered: 'Nothing is left to do: the receiver has acknowledged it.',
  forwarded: 'APNs has accepted it, and does not report whether the device got it.',
  replaced: 'A newer message with the same collapse key has taken its place.',
  expired: 'Its lifetime ended while it waited. A longer time_to_live, at most four weeks, lets a device that is away get it.',
  discarded: 'Too many messages waited for the app. It gets deleted_messages, upon which it should fetch what it needs from its own server.',
  removed: 'Its registration or device was removed while it waited. The app server should forget the token.',
  cancelled: 'An operator or its app server cancelled it while it waited.',
};

async function advise(row, place, signal) {
  try {
    add(place, await advice(row, signal));
  } catch (error) {
    if (error.name !== 'AbortError') add(place, `What it waits for cannot be looked up: ${error.message}.`);
  }
}

/** Returns what to do next, or what the message waits for. */
async function advice(row, signal) {
  const { word, detail, isOver } = outcome(row);
  if (word === 'refused') return refusal(detail);
  if (row.kind === 'topic') return `${await reach(row, signal)}${copies.topic}`;
  if (copies[row.kind]) return copies[row.kind];
  if (isOver) return afterEnd[word] ?? meaning(word, 'milestone');
  return row.kind === 'downstream' ? waitingDownstream(row, signal) : waitingUpstream(row, signal);
}

/** The reason of a refusal in words, and whether the message may be sent again: the texts of ccsctl explain. */
function refusal(detail) {
  const { word, field, apple } = detailOf(detail);
  const known = reasonOf(word);
  if (!known) return `Refused${word ? `: ${word}` : ''}.${answerOf(apple)}`;
  return `Refused with ${known.code}: ${known.meaning}${field && ` The field is ${field}.`}${answerOf(apple)} ${known.again === 'later' ? 'Send it again later, with exponential backoff.'
    : 'The same message will be refused again: correct it first.'}`;
}

/** What Apple has answered, if it has. */
function answerOf(apple) {
  return apple ? ` Apple said: ${apple}.` : '';
}

/** How many app instances a message to a topic has reached so far, or in all. */
async function reach({ message_id: id, sender_id: sender, steps }, signal) {
  const { messages } = await call('topics running', { limit: runningRows }, signal);
  const live = messages.find((one) => id && one.message_id === id && one.sender_id === sender);
  if (live) return `It has reached ${count(live.reached)}${live.subscribers === null ? '' : ` of ${count(live.subscribers)}`} subscribers so far. `;
  const reached = reachOf(steps);
  return reached === undefined ? '' : `It has reached ${plural(reached, 'subscriber')}. `;
}

/** What a message to an iOS app waits for, and why APNs could not take it yet. */
function waitingForApple({ steps }) {
  const last = steps.findLast(({ step }) => step === 'deferred');
  if (!last) {
    return 'It waits for APNs; or, if it has neither notification nor content_available, for a connection of the app itself, which a current Firebase SDK never makes (ios_data_only in the configuration).';
  }
  const { word, apple } = detailOf(last.detail);
  return `It waits for APNs. ${meaning(word, 'refusal')}${answerOf(apple)} It is tried again by itself; the last time was ${distance(last.time)}.`;
}

/** What a message to a device waits for. */
async function waitingDownstream(row, signal) {
  const [device, { messages }] = await Promise.all([
    deviceOf(row.device, signal),
    call('messages list', { device: row.device, limit: waitingRows }, signal),
  ]);
  if (!device) return 'Its device was removed, and the message with it.';
  const waits = messages.find((one) => one.persistent_id === row.persistent_id);
  const expiry = waits ? ` It expires ${distance(waits.expires_at)}.` : '';
  if (!waits) return 'It no longer waits: its last steps are not in the history yet, or are missing from it.';
  if (device.channels.includes('apns') && waits.state === 'waiting') return `${waitingForApple(row)}${expiry}`;
  if (!device.online && waits.state !== 'at_gateway') {
    return `It waits for the device, which is offline: last contact ${device.seen_at ? distance(device.seen_at) : 'unknown'}.${expiry}`;
  }
  const until = waits.state === 'throttled' ? await throttled(waits, messages, signal) : '';
  return `${meaning(waits.state, 'state')}${until}${expiry}`;
}

/** Until when a message is throttled: its app gets one more after each interval, the oldest first. */
async function throttled(message, messages, signal) {
  const { keys } = await call('config show', {}, signal);
  const interval = Number(keys.find(({ key }) => key === 'collapsible_refill_seconds')?.value);
  const waiting = messages.filter(({ state, registration }) => state === 'throttled' && registration === message.registration);
  return interval > 0 ? ` Throttled until ${time(Date.now() + (1 + waiting.indexOf(message)) * interval * 1000)} at the latest.` : '';
}

/** What a message or receipt to app servers waits for. */
async function waitingUpstream(row, signal) {
  if (!row.sender_id) return 'Its sender is unknown.';
  const { senders: [figures] } = await call('senders stats', { sender_id: row.sender_id }, signal);
  const sessions = figures?.sessions ?? 0;
  if (sessions === 0) return 'It waits for an app server of the sender: none is connected, and no webhook is set or works.';
  return `It waits for an app server of the sender to acknowledge it: ${plural(sessions, 'session')} of the sender ${sessions === 1 ? 'is' : 'are'} open, with ${plural(figures.unacknowledged, 'unacknowledged message')}.`;
}

/** Creates a line that names what the history covers, and what it may not have. */
export function coverage({ since, gaps, damaged, missing }) {
  const parts = [since ? `The history begins ${distance(since)} (${time(since)}).` : 'The history has nothing yet.'];
  if (gaps.length > 0) {
    const last = gaps.at(-1);
    parts.push(`${plural(gaps.length, 'time')} it may have missed something, the last from ${time(last.from)} to ${time(last.to)}.`);
  }
  if (damaged > 0) parts.push(`${plural(damaged, 'damaged part')} of it ${damaged === 1 ? 'was' : 'were'} left out.`);
  if (missing.length > 0) parts.push(`Nodes that did not answer: ${missing.join(', ')}.`);
  return h('p', { class: 'quiet' }, parts.join(' '));
}
