// The messages of an inbox, the latest first, as they arrive: compact rows, their JSON, earlier ones, and what was cleared.
import { call } from '../api.js';
import { h, fill, announce, directionControls, said } from '../dom.js';
import { clock, count, words } from '../format.js';
import { copyButton, ctl } from './command.js';
import { button } from './form.js';
import { problemBox } from './notice.js';
import { badge, mono } from './table.js';

/** Seconds that a request waits for a message. One that was left occupies the server no longer. */
const waitSeconds = 10;
/** Messages that are shown at first, and that a request for earlier ones adds: the most of one request. */
const firstMessages = 200;
const pageMessages = 100;

/**
 * Creates the list of an inbox: `name` is the operation that reads it, `args` say which inbox, and `clear(last)` forgets the messages up to
 * that number. Messages up to `cleared` are not shown.
 */
export function messageList({ name, args, cleared = 0, clear, signal }) {
  const list = h('ol', { class: 'inbox', 'aria-label': 'Messages, the latest first' });
  const note = h('p', { class: 'quiet', role: 'status' }, 'Waiting for messages.');
  const place = h('div', {});
  const inbox = { name, args, list, note, signal, floor: cleared, first: 1, last: 0, room: firstMessages };
  const earlier = button('Earlier messages', async () => {
    earlier.disabled = true;
    await showEarlier(inbox).catch((error) => error.name === 'AbortError' || fill(place, problemBox(error)));
    earlier.disabled = false;
    showButtons();
  }, { kind: 'small', hidden: true });
  const clearing = button('Clear', async () => {
    clearing.disabled = true;
    try {
      await clear(inbox.last);
      inbox.floor = inbox.last;
      inbox.first = inbox.last + 1;
      fill(list);
      showButtons();
    } catch (error) {
      if (error.name !== 'AbortError') fill(place, problemBox(error));
    }
    clearing.disabled = false;
  }, { kind: 'small' });
  const showButtons = () => { earlier.hidden = inbox.first <= inbox.floor + 1; };
  receive(inbox, showButtons);
  return [h('div', { class: 'row' }, note, clearing), place, list, earlier, ctl(name, { ...args, wait: waitSeconds })];
}

/** Adds messages to the list as they arrive, while the page is visible. */
async function receive(inbox, changed) {
  const { list, note, signal } = inbox;
  try {
    await restart(inbox);
    while (!signal.aborted) {
      changed();
      await visible(signal);
      const answer = await read(inbox, { after: inbox.last, wait: waitSeconds });
      if (answer.received < inbox.last) {
        // The server was started again, or its inbox was emptied.
        inbox.floor = 0;
        await restart(inbox);
        continue;
      }
      for (const row of answer.messages) {
        list.prepend(messageItem(row));
        if (list.childElementCount <= inbox.room) continue;
        list.lastElementChild.remove();
        inbox.first = Number(list.lastElementChild.dataset.number);
      }
      inbox.last = answer.messages.at(-1)?.number ?? inbox.last;
      if (answer.messages.length > 0) announce(`${answer.messages.length} new`);
      const dropped = answer.dropped > 0 ? `, of which ${count(answer.dropped)} were dropped for want of room` : '';
      note.textContent = `${count(answer.received)} received${dropped}. Waiting for more.`;
    }
  } catch (error) {
    if (error.name !== 'AbortError') fill(note, problemBox(error));
  }
}

function read({ name, args, signal }, page) {
  return call(name, { ...args, limit: pageMessages, ...page }, signal);
}

/** Empties the list, and starts before the latest messages. */
async function restart(inbox) {
  fill(inbox.list);
  const { received, dropped } = await read(inbox, { limit: 1 });
  inbox.floor = Math.min(Math.max(inbox.floor, dropped), received);
  inbox.room = firstMessages;
  inbox.last = Math.max(inbox.floor, received - firstMessages);
  inbox.first = inbox.last + 1;
}

/** Adds the messages before the first that is shown. */
async function showEarlier(inbox) {
  const before = inbox.first;
  const after = Math.max(inbox.floor, before - 1 - pageMessages);
  const { messages } = await read(inbox, { after });
  const rows = messages.filter((row) => row.number < before);
  inbox.room += rows.length;
  inbox.list.append(...rows.toReversed().map((row) => messageItem(row)));
  inbox.first = after + 1;
}

/** Waits until the page is visible, or left. */
function visible(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

/** Creates the row of a message; `origin` names its inbox where there are several, and `action` is shown beside its JSON. */
export function messageItem(row, origin = null, action = null) {
  // As escapes they are still the same JSON, and reverse nothing in it.
  const json = JSON.stringify(row, null, 2)
    .replace(directionControls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const pairs = Object.entries(row.data ?? {});
  return h('li', { data: { number: row.number } },
    h('p', { class: 'inbox-head' }, origin, h('strong', {}, `${row.number}`), h('time', { datetime: row.received_at }, clock(row.received_at)),
      badge(row.type === 'message' ? 'good' : 'warn', words(row.type)), row.repeated && badge('warn', 'repeated'),
      row.from && h('span', {}, said`from ${row.from}`), row.app && h('span', {}, said`app ${row.app}`),
      row.collapse_key && row.collapse_key !== 'do_not_collapse' && h('span', { class: 'quiet' }, said`collapse key ${row.collapse_key}`),
      h('span', { class: 'quiet' }, row.persistent_id ?? row.message_id)),
    pairs.length > 0 && h('dl', { class: 'inbox-pairs' }, pairs.map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value)))),
    row.raw_data && mono(row.raw_data),
    h('details', {}, h('summary', {}, 'JSON'), h('pre', { tabindex: '0' }, json), copyButton(json, 'Copy the JSON')), action);
}
