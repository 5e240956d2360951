// The virtual devices of the test bench, as a mail catcher has inboxes, and a form for a new one.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, plural } from '../format.js';
import { forRole, mayRun, operator } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { form, textField } from '../components/form.js';
import { act, notice, reload } from '../components/notice.js';
import { badge, mono, section, table } from '../components/table.js';
import { faults } from './faults.js';
import { inboxAll } from './inbox-all.js';
import { connection, inboxDevice } from './inbox-device.js';
import { recorders } from './recorders.js';

/** Milliseconds between two looks at the devices. */
const refreshMilliseconds = 2000;

/** Creates the page: all devices, the inbox of one, or the other parts of the test bench. */
export function inbox({ segments: [, part, sender], signal }) {
  if (!operator().test_bench) {
    return notice('info', 'The test bench is off', h('p', {},
      'With test_bench: true the server has virtual devices for test suites, whose messages are shown here. It is not for production.'));
  }
  if (!mayRun('virtual-devices list')) {
    return notice('warn', 'Not permitted', h('p', {}, 'Virtual devices have tokens, which are for the role operator.'));
  }
  const parts = [[undefined, 'Virtual devices'], ['all', 'All messages'], ['recorders', 'Recorders'], ['faults', 'Faults']];
  const place = parts.some(([path]) => path === part) ? part : undefined;
  const tabs = h('nav', { class: 'tabs', 'aria-label': 'Parts of the test bench' }, parts.map(([path, title]) => h('a', {
    href: link(path ? ['inbox', path] : ['inbox']), 'aria-current': place === path && 'page',
  }, title)));
  switch (part) {
  case undefined: return [tabs, deviceList(signal)];
  case 'all': return [tabs, inboxAll(signal)];
  case 'recorders': return [tabs, recorders(sender, signal)];
  case 'faults': return [tabs, faults(signal)];
  default: return [tabs, inboxDevice(part, signal)];
  }
}

function deviceList(signal) {
  const list = h('div', {});
  const refresh = () => reload(list, call('virtual-devices list', {}, signal), ({ devices }) => deviceTable(devices));
  const timer = setInterval(() => document.hidden || refresh(), refreshMilliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
  refresh();
  return [
    h('p', { class: 'quiet' }, 'Devices that live in the server: an app server sends to their tokens as to any other device.'),
    section('Virtual devices', list, ctl('virtual-devices list')),
    section('Create a device', addForm(signal)),
  ];
}

function deviceTable(devices) {
  return [
    h('p', { class: 'quiet' }, plural(devices.length, 'device')),
    table('Virtual devices', [
      { title: 'Inbox', cell: (row) => h('a', { href: link(['inbox', row.device]) }, mono(row.device)) },
      { title: 'Messages', by: (row) => row.received, number: true, cell: (row) => count(row.received) },
      { title: 'App', by: (row) => row.app, cell: (row) => row.app },
      { title: 'Label', by: (row) => row.label, cell: (row) => row.label || '–' },
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Connected', cell: (row) => connection(row) },
      { title: 'Acknowledges', cell: (row) => (row.acknowledges ? 'yes' : badge('warn', 'no')) },
      { title: 'Registered', cell: (row) => (row.token ? 'yes' : badge('warn', 'no')) },
    ], devices, { empty: 'None yet.' }),
  ];
}

function addForm(signal) {
  const place = h('div', {});
  const command = h('div', {}, ctl('virtual-devices add', { sender_id: 'SENDER', app: 'org.example.app' }));
  const sender = textField('Sender ID', 'sender_id', { inputmode: 'numeric', required: true });
  const input = sender.querySelector('input');
  call('senders list', {}, signal).then(({ senders }) => { input.value ||= senders[0]?.sender_id ?? ''; }).catch(() => {});
  return form((values, pressed) => act(pressed, place, async () => {
    fill(command, ctl('virtual-devices add', values));
    const made = await call('virtual-devices add', values);
    go(['inbox', made.device]);
  }), h('div', { class: 'grid' }, sender,
    textField('App', 'app', { value: 'org.example.app', required: true, help: 'Its package name.' }),
    textField('Label', 'label', { help: 'A name for listings.' })),
  h('div', { class: 'buttons' },
    forRole('virtual-devices add', h('button', { type: 'submit', class: 'primary' }, 'Create'))), place, command);
}
