// The messages of all virtual devices in one list, the latest first: searched, as JSON, and sent again.
import { call } from '../api.js';
import { h, fill, announce } from '../dom.js';
import { plural } from '../format.js';
import { forRole } from '../operator.js';
import { link } from '../router.js';
import { ctl } from '../components/command.js';
import { button, textField } from '../components/form.js';
import { messageItem } from '../components/message-list.js';
import { act, notice, problemBox } from '../components/notice.js';
import { section } from '../components/table.js';

/** Milliseconds between two looks at the devices. */
const refreshMilliseconds = 2000;
/** Messages in the list, and those of one device that a look reads at most: the most of one request. */
const shownMessages = 500;
const readMessages = 100;
/** Devices that are read at the same time: a browser has six connections to a host. */
const atOnce = 4;

/** Creates the list. */
export function inboxAll(signal) {
  const list = h('ol', { class: 'inbox', 'aria-label': 'Messages of all devices, the latest first' });
  const note = h('p', { class: 'quiet', role: 'status' }, 'Waiting for messages.');
  const search = textField('Search the messages', 'filter', { type: 'search' });
  const state = { read: new Map(), rows: [], list, note, filter: '', signal };
  search.addEventListener('input', (event) => {
    state.filter = event.target.value.trim().toLowerCase();
    show(state);
  });
  const clear = button('Clear', () => {
    state.rows = [];
    show(state);
  }, { kind: 'small' });
  watch(state);
  return section('Messages of all devices', h('div', { class: 'row' }, search, clear), note, list,
    h('p', { class: 'quiet' }, 'Clear empties the list in this tab; the server keeps the messages for test suites.'), ctl('virtual-devices list'));
}

/** Reads what is new while the page is visible. */
async function watch(state) {
  while (!state.signal.aborted) {
    try {
      if (!document.hidden) await look(state);
    } catch (error) {
      if (error.name === 'AbortError') return;
      fill(state.note, problemBox(error));
    }
    await new Promise((resolve) => { setTimeout(resolve, refreshMilliseconds); });
  }
}

async function look(state) {
  const { devices } = await call('virtual-devices list', {}, state.signal);
  const changed = devices.filter((device) => device.received !== (state.read.get(device.device) ?? 0));
  let added = 0;
  for (let from = 0; from < changed.length; from += atOnce) {
    const pages = await Promise.all(changed.slice(from, from + atOnce).map((device) => pageOf(device, state)));
    added += pages.reduce((sum, page) => sum + page, 0);
  }
  if (added > 0) {
    state.rows.sort((one, other) => other.row.received_at.localeCompare(one.row.received_at));
    state.rows.length = Math.min(state.rows.length, shownMessages);
    announce(`${added} new`);
    show(state);
  }
  const received = devices.reduce((sum, device) => sum + device.received, 0);
  state.note.textContent = `${plural(received, 'message')} received by ${plural(devices.length, 'device')}.`;
}

/** Reads the new messages of a device, the last ones if there are many. Returns how many there are. */
async function pageOf(device, state) {
  const known = state.read.get(device.device) ?? 0;
  // An inbox that has had more was made anew with the server.
  const after = Math.max(known > device.received ? 0 : known, device.received - readMessages);
  const { messages, received } = await call('virtual-devices messages', { device: device.device, after, limit: readMessages }, state.signal)
    // It was removed meanwhile.
    .catch((error) => { if (error.name === 'AbortError') throw error; return { messages: [], received: device.received }; });
  state.read.set(device.device, messages.at(-1)?.number ?? received);
  state.rows.push(...messages.map((row) => (
    { device, row, text: JSON.stringify([row, device.app, device.label, device.device]).toLowerCase() })));
  return messages.length;
}

function show({ rows, list, filter }) {
  const found = rows.filter(({ text }) => text.includes(filter));
  fill(list, found.map(({ device, row }) => messageItem(row,
    h('a', { href: link(['inbox', device.device]) }, device.label || device.app), again(device, row))),
  found.length === 0 && h('li', { class: 'quiet' }, rows.length === 0 ? 'None yet.' : 'No message has this text.'));
}

/** Creates the button that sends the pairs of a message to its device once more, as its sender. */
function again(device, { type, data, collapse_key: key }) {
  if (type !== 'message' || !data || Object.keys(data).length === 0 || !device.token) return null;
  const place = h('span', {});
  const args = { sender_id: device.sender_id, to: device.token, data, collapse_key: key === 'do_not_collapse' ? undefined : key };
  return [forRole('send', button('Send again', (event) => act(event.currentTarget, place, async () => {
    const answer = await call('send', args);
    return answer.outcome === 'nack' ? notice('bad', `NACK ${answer.error}`, h('p', {}, answer.error_description)) : notice('good', 'ACK');
  }), { kind: 'small' })), place];
}
