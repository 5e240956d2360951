// The meanings of the words of the server, from the tables that ccsctl explain prints.
import { errors, words } from './tables.js';
import { h, freshID } from './dom.js';

/** What only a trace has: steps that are not milestones. */
const steps = {
  acknowledged: 'The peer acknowledged the message; the store has yet to record it.',
  received: 'The device sent the message; it is not yet accepted.',
  duplicate: 'The device sent the message again; it was accepted before, and is acknowledged again.',
  deferred: 'APNs cannot take the message now; it is tried again.',
  connected: 'The device logged in.',
  disconnected: 'The connection of the device ended; the detail has the reason.',
  idle: 'The device reported that its user is not active: messages with delay_while_idle wait.',
  active: 'The device reported that its user is active.',
  login_refused: 'The device could not log in; the detail has the reason.',
  forgotten: 'The device was removed.',
  cancelled: 'An operator or its app server cancelled the message.',
  scheduled: 'The message is sent later: the detail is its time (send_at).',
  released: 'The time of a scheduled message has come: it waits like any other.',
};

/** The states of a waiting message. */
const states = {
  waiting: 'It waits until the device, or an app server of the sender, is connected.',
  at_login: 'It waits in the log of topic messages until the device connects.',
  scheduled: 'It waits for its time (send_at).',
  delayed: 'It waits until the device is active (delay_while_idle).',
  throttled: 'The device got more messages with a collapse key for the app than the rate of an app permits: it is sent as soon as the rate permits it, or a newer one with its key takes its place.',
  sent: 'It was written to the connection, and is not yet acknowledged.',
  at_gateway: 'It was sent to APNs, which has not answered yet.',
  owing_receipt: 'It was delivered; its receipt is being stored.',
};

/** Returns the meaning of a word; empty if it has none. Of several kinds, those given come first. */
export function meaning(word, ...kinds) {
  if (kinds.includes('step') && steps[word]) return steps[word];
  if (kinds.includes('state') && states[word]) return states[word];
  const found = words.filter((entry) => entry.word === word);
  const best = kinds.map((kind) => found.find((entry) => entry.kind === kind)).find(Boolean);
  return (best ?? found[0])?.meaning ?? '';
}

/** Returns the possible reasons of an error code: reason, meaning, and whether the message may be sent again later. */
export function reasonsOf(code) {
  return errors.filter((error) => error.code === code)
    .map((error) => ({ ...error, meaning: meaning(error.reason, 'refusal') }));
}

/** Returns the error code of a reason of refusal, its meaning, and whether the message may be sent again; `undefined` for other words. */
export function reasonOf(reason) {
  const error = errors.find((one) => one.reason === reason);
  return error && { ...error, meaning: meaning(reason, 'refusal') };
}

/** Splits the detail of a step into its word, the field that is wrong in a refused message, and what Apple has answered. */
export function detailOf(detail = '') {
  const [word, ...rest] = detail.split(' ');
  if (word.startsWith('apns_')) return { word, field: '', apple: rest.join(' ') };
  return rest.length === 1 && reasonOf(word) ? { word, field: rest[0], apple: '' } : { word: detail, field: '', apple: '' };
}

/** Creates a word that shows its meaning when it is pressed or pointed at. */
export function term(word, kinds = [], label = word) {
  const text = meaning(word, ...kinds);
  if (!text) return h('span', {}, label);
  const id = freshID('meaning');
  const button = h('button', {
    type: 'button', class: 'term', 'aria-expanded': 'false', 'aria-controls': id, title: text,
    on: { click: () => {
      box.hidden = !box.hidden;
      button.setAttribute('aria-expanded', String(!box.hidden));
    } },
  }, label);
  const box = h('span', { id, class: 'meaning', hidden: true }, text);
  return h('span', { class: 'explained' }, button, box);
}
