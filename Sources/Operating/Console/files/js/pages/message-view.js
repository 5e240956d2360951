// A message by its ID: its life from the history, the device beside it, and the search among the messages that wait.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { distance, plural, time } from '../format.js';
import { outcome } from '../outcome.js';
import { ctl } from '../components/command.js';
import { coverage, life } from '../components/life.js';
import { notice, problemBox } from '../components/notice.js';
import { section } from '../components/table.js';
import { deviceSummary } from './device-view.js';
import { findMessage } from './find-message.js';

const shownLives = 10;
/** Milliseconds after which the history has what has just happened. */
const settleMilliseconds = 1500;
/** Milliseconds between two looks at a message that has not ended. */
const refreshMilliseconds = 4000;

/** Creates the view of the messages with an ID; `storedAt` is the time in a persistent ID. */
export function messageView(id, { storedAt, query, signal }) {
  const place = h('div', { 'aria-live': 'polite' }, h('p', { class: 'quiet loading' }, 'Loading…'));
  const isSearched = Boolean(query.get('device') || query.get('sender'));
  const search = h('details', { open: isSearched }, h('summary', {}, 'Search the waiting messages'),
    findMessage(id, { device: query.get('device'), sender: query.get('sender'), signal }));
  follow(id, { storedAt, signal }, place, () => { search.open = true; });
  return [place, search];
}

/** Shows what the history has, and what it adds until all of it has ended. */
async function follow(id, { storedAt, signal }, place, missed) {
  for (let shown; !signal.aborted; await pause(shown === '[]' ? settleMilliseconds : refreshMilliseconds)) {
    if (document.hidden || place.contains(document.activeElement)) continue;
    try {
      const answer = await call('messages find', { message_id: id, limit: shownLives }, signal);
      const [before, now] = [shown, JSON.stringify(answer.messages)];
      shown = now;
      if (now !== before) {
        fill(place, section('Life of the message', lives(id, answer, storedAt, signal),
          coverage(answer.history), ctl('messages find', { message_id: id })));
      }
      // A message that was sent a moment ago is found a moment later.
      if (now === '[]' && before === undefined) missed();
      else if (answer.messages.every((row) => outcome(row).isOver)) return;
    } catch (error) {
      if (error.name !== 'AbortError') fill(place, problemBox(error));
      return;
    }
  }
}

function pause(milliseconds) {
  return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
}

function lives(id, { messages, cut }, storedAt, signal) {
  if (messages.length === 0) return nothing(storedAt);
  return [
    messages.length > 1 && h('p', { class: 'quiet' },
      `${cut ? `More than ${messages.length}` : plural(messages.length, 'message')} with this ID, the latest first: an ID is unique only for its sender and device.`),
    messages.map((row) => h('div', { class: 'pair' }, life(row, signal), row.device && deviceSummary(row.device, signal))),
  ];
}

function nothing(storedAt) {
  return notice('warn', 'Not in the history',
    storedAt && h('p', {}, `It is the ID that a device sees, given ${distance(storedAt)}, on ${time(storedAt)}.`),
    h('p', {}, 'This server has never got a message with this ID, or it is older than the history. Is the ID complete, and does the app server send to this server?'));
}
