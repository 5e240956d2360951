// The inbox of a virtual device: its messages as they arrive, its state, and messages to its app server.
import { call } from '../api.js';
import { h, fill, announce } from '../dom.js';
import { clock, count, words } from '../format.js';
import { forRole } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { act, load, notice, problemBox } from '../components/notice.js';
import { pairsField, pairsOf } from '../components/pairs.js';
import { badge, facts, mono, section } from '../components/table.js';

/** Seconds that a request waits for a message. One that was left occupies the server no longer. */
const waitSeconds = 10;
/** Messages that are kept in the list. */
const keptMessages = 200;

/** Creates the view of a device. */
export function inboxDevice(device, signal) {
  const state = h('div', { tabindex: '-1' });
  const list = h('ol', { class: 'inbox', 'aria-label': 'Messages, the latest first' });
  const note = h('p', { class: 'quiet', role: 'status' }, 'Waiting for messages.');
  const reading = new AbortController();
  signal.addEventListener('abort', () => reading.abort());
  const refresh = () => load(state, call('virtual-devices list', {}, signal), ({ devices }) => {
    const row = devices.find((one) => one.device === device);
    return row ? stateBox(row, state, refresh, () => reading.abort()) : problemBox({ message: `unknown virtual device ${device}`, hint: 'go back to the list' });
  });
  refresh();
  receive(device, list, note, reading.signal);
  return [
    h('p', {}, h('a', { href: link(['inbox']) }, 'All virtual devices')),
    section('Messages', note, list, ctl('virtual-devices messages', { device, wait: waitSeconds })),
    section('Device', state),
    section('Send to the app server', sendForm(device, signal)),
  ];
}

/** Adds messages to the list as they arrive, while the page is visible. */
async function receive(device, list, note, signal) {
  let after = 0;
  while (!signal.aborted) {
    await visible(signal);
    try {
      const answer = await call('virtual-devices messages', { device, after, wait: waitSeconds, limit: 100 }, signal);
      if (answer.received < after) {
        // The server was started again: its inboxes are in memory.
        after = 0;
        fill(list);
        continue;
      }
      for (const row of answer.messages) {
        list.prepend(item(row));
        if (list.childElementCount > keptMessages) list.lastElementChild.remove();
      }
      after = answer.messages.at(-1)?.number ?? after;
      if (answer.messages.length > 0) announce(`${answer.messages.length} new`);
      const dropped = answer.dropped > 0 ? `, of which ${count(answer.dropped)} were dropped for want of room` : '';
      note.textContent = `${count(answer.received)} received${dropped}. Waiting for more.`;
    } catch (error) {
      if (error.name !== 'AbortError') fill(note, problemBox(error));
      return;
    }
  }
}

/** Waits until the page is visible, or left. */
function visible(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

function item(row) {
  const content = Object.entries(row.data ?? {});
  return h('li', {},
    h('p', { class: 'inbox-head' }, h('strong', {}, `${row.number}`), h('time', { datetime: row.received_at }, clock(row.received_at)),
      badge(row.type === 'message' ? 'good' : 'warn', words(row.type)), row.repeated && badge('warn', 'repeated'),
      h('span', {}, `from ${row.from}`)),
    content.length > 0 && facts(...content),
    row.raw_data && h('code', { class: 'block' }, row.raw_data),
    h('p', { class: 'quiet' }, [row.collapse_key && `collapse key ${row.collapse_key}`, row.persistent_id].filter(Boolean).join(' · ')));
}

/** Creates the badge for the connection of a device. */
export function connection({ online, connected, forgotten }) {
  if (forgotten) return badge('bad', 'forgotten by the server');
  if (connected) return badge('good', 'online');
  return online ? badge('warn', 'connecting') : badge('plain', 'offline');
}

function stateBox(row, state, refresh, stopReading) {
  const place = h('div', {});
  const { device } = row;
  const run = (text, name, args, { question, first = () => {}, then = refresh, kind = '' } = {}) => h('div', { class: 'row' }, ctl(name, args),
    forRole(name, button(text, (event) => act(event.currentTarget, place, async () => {
      if (question && !(await confirm(`${text}?`, question, text, [name, args]))) return null;
      first();
      await call(name, args);
      await then();
      state.focus();
      return null;
    }), { kind })));
  return [
    facts(['Device', h('a', { href: link(['messages', device]) }, mono(device))], ['App', row.app], ['Label', row.label || '–'],
      ['Sender', h('a', { href: link(['senders', row.sender_id]) }, row.sender_id)],
      ['Connected', connection(row)], ['Acknowledges', row.acknowledges ? 'yes' : badge('warn', 'no')],
      ['Token', row.token ? h('a', { href: link(['messages', row.token]) }, mono(row.token)) : badge('warn', 'unregistered')]),
    !row.forgotten && run(row.online ? 'Go offline' : 'Go online', 'virtual-devices change', { device, connection: row.online ? 'offline' : 'online' }),
    run(row.acknowledges ? 'Stop acknowledging' : 'Acknowledge', 'virtual-devices change',
      { device, acknowledgement: row.acknowledges ? 'never' : 'always' }),
    row.token && run('Unregister the app', 'virtual-devices unregister', { device },
      { question: 'Its token ends: app servers get NotRegistered.', kind: 'danger' }),
    run('Remove the device', 'virtual-devices remove', { device },
      // A request that waits for messages of a removed device would fail.
      { question: 'The device is removed with its inbox.', first: stopReading, then: () => go(['inbox']), kind: 'danger' }),
    place,
  ];
}

function sendForm(device, signal) {
  const place = h('div', { 'aria-live': 'polite' });
  const command = h('div', {}, ctl('virtual-devices send', { device, data: { text: 'hello' } }));
  const element = form(({ message_id: id, time_to_live: seconds }, pressed) => act(pressed, place, async () => {
    const args = { device, data: pairsOf(element), message_id: id, time_to_live: seconds === undefined ? undefined : Number(seconds) };
    fill(command, ctl('virtual-devices send', args));
    return outcome(await call('virtual-devices send', args, signal));
  }), pairsField(['text', 'hello']), h('details', {}, h('summary', {}, 'More fields'), h('div', { class: 'grid' },
    textField('Message ID', 'message_id', { help: 'Empty: a random one.' }),
    textField('Lifetime in seconds', 'time_to_live', { inputmode: 'numeric', help: '0: now or never. Empty: a day.' }))),
  h('div', { class: 'buttons' },
    forRole('virtual-devices send', h('button', { type: 'submit', class: 'primary' }, 'Send'))), place, command);
  return element;
}

function outcome({ message_id: id, outcome: word, error }) {
  switch (word) {
  case 'stored': return notice('good', 'Stored', h('p', {}, `The server has stored message ${id}, and sends it to an app server.`));
  case 'waiting': return notice('warn', 'Waiting', h('p', {}, `Message ${id} is sent when the device is connected.`));
  default: return notice('bad', `Refused: ${error}`, h('p', {}, `The server has not taken message ${id}.`));
  }
}
