// The inbox of a virtual device: its token and state, messages to its app server, and below them its messages as they arrive.
import { call } from '../api.js';
import { h, fill, said } from '../dom.js';
import { forRole } from '../operator.js';
import { go, link } from '../router.js';
import { copyButton, ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { messageList } from '../components/message-list.js';
import { act, load, notice, problemBox } from '../components/notice.js';
import { pairsField, pairsOf } from '../components/pairs.js';
import { badge, facts, mono, section } from '../components/table.js';

/** Creates the view of a device. */
export function inboxDevice(device, signal) {
  const state = h('div', { tabindex: '-1' });
  const reading = new AbortController();
  signal.addEventListener('abort', () => reading.abort());
  const refresh = () => load(state, call('virtual-devices list', {}, signal), ({ devices }) => {
    const row = devices.find((one) => one.device === device);
    return row ? stateBox(row, state, refresh, () => reading.abort()) : problemBox({ message: `unknown virtual device ${device}`, hint: 'go back to the list' });
  });
  refresh();
  return [
    section('Device', state),
    section('Send to the app server', sendForm(device, signal)),
    section('Messages', messageList({
      name: 'virtual-devices messages', args: { device }, cleared: clearedOf(device), clear: (last) => keepCleared(device, last), signal: reading.signal,
    }), h('p', { class: 'quiet' }, 'Clear empties the list in this tab; the server keeps the messages for test suites.')),
  ];
}

const storageKey = (device) => `ccsd-cleared-${device}`;

/** Returns the number of the last message that was cleared from the list in this tab. */
function clearedOf(device) {
  try { return Number(sessionStorage.getItem(storageKey(device)) ?? 0); } catch { return 0; }
}

function keepCleared(device, last) {
  try { sessionStorage.setItem(storageKey(device), last); } catch { /* It is cleared until the page is left. */ }
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
  const commands = [];
  const run = (text, name, args, { question, first = () => {}, then = refresh, kind = '' } = {}) => {
    commands.push(ctl(name, args));
    return forRole(name, button(text, (event) => act(event.currentTarget, place, async () => {
      if (question && !(await confirm(`${text}?`, question, text, [name, args]))) return null;
      first();
      await call(name, args);
      await then();
      state.focus();
      return null;
    }), { kind }));
  };
  return [
    h('p', { class: 'token' }, h('strong', {}, 'Token '), row.token
      ? [h('a', { href: link(['messages', row.token]) }, mono(row.token)), ' ', copyButton(row.token, 'Copy the token')]
      : [badge('warn', 'unregistered'), ' Its app is not registered: app servers that send to its last token get NotRegistered.']),
    facts(['Connected', connection(row)], ['Acknowledges', row.acknowledges ? 'yes' : badge('warn', 'no')],
      ['App', row.app], ['Label', row.label || '–'],
      ['Sender', h('a', { href: link(['senders', row.sender_id]) }, row.sender_id)],
      ['Device', h('a', { href: link(['messages', device]) }, mono(device))]),
    h('div', { class: 'buttons' },
      !row.forgotten && run(row.online ? 'Go offline' : 'Go online', 'virtual-devices change', { device, connection: row.online ? 'offline' : 'online' }),
      run(row.acknowledges ? 'Stop acknowledging' : 'Acknowledge', 'virtual-devices change',
        { device, acknowledgement: row.acknowledges ? 'never' : 'always' }),
      row.token && run('Unregister the app', 'virtual-devices unregister', { device },
        { question: 'Its token ends: app servers get NotRegistered.', kind: 'danger' }),
      run('Remove the device', 'virtual-devices remove', { device },
        // A request that waits for messages of a removed device would fail.
        { question: 'The device is removed with its inbox.', first: stopReading, then: () => go(['inbox']), kind: 'danger' })),
    h('details', {}, h('summary', {}, 'As commands'), commands),
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
  case 'stored': return notice('good', 'Stored', h('p', {}, said`The server has stored message ${id}, and sends it to an app server.`));
  case 'waiting': return notice('warn', 'Waiting', h('p', {}, said`Message ${id} is sent when the device is connected.`));
  default: return notice('bad', `Refused: ${error}`, h('p', {}, said`The server has not taken message ${id}.`));
  }
}
