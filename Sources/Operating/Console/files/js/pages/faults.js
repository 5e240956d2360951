// The faults of the test bench: errors, losses, delays and repetitions that the next messages of app servers meet.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, short } from '../format.js';
import { forRole } from '../operator.js';
import { link } from '../router.js';
import { ctl } from '../components/command.js';
import { button, choiceField, form, textField } from '../components/form.js';
import { act, notice, reload } from '../components/notice.js';
import { badge, mono, section, table } from '../components/table.js';

/** Milliseconds between two looks at the faults, whose hits grow. */
const refreshMilliseconds = 2000;
const actions = [
  ['refuse', 'refuse: an error, and nothing is stored'], ['drop', 'drop: acknowledged, and lost'],
  ['delay', 'delay: taken in later'], ['duplicate', 'duplicate: delivered twice'],
];

/** Creates the page. */
export function faults(signal) {
  const list = h('div', {});
  const refresh = () => reload(list, call('faults list', {}, signal), ({ faults: rows }) => faultTable(rows, refresh));
  const timer = setInterval(() => document.hidden || refresh(), refreshMilliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
  refresh();
  return [
    h('p', { class: 'quiet' },
      'A fault acts on the next messages to a token, or of a sender, over XMPP, legacy HTTP and HTTP v1. A message meets the oldest one that fits it.'),
    section('Faults', list, ctl('faults list')),
    section('Add a fault', addForm(signal, refresh)),
  ];
}

function faultTable(rows, refresh) {
  const place = h('div', {});
  const run = (name, args) => async (event) => act(event.currentTarget, place, async () => {
    await call(name, args);
    // The list is not drawn anew while one of its buttons has the focus.
    document.activeElement?.blur();
    await refresh();
  });
  return [
    table('Faults', [
      { title: 'Fault', by: (row) => row.fault, cell: (row) => row.fault },
      { title: 'Action', by: (row) => row.action, cell: (row) => row.action },
      { title: 'With', cell: (row) => row.error ?? (row.milliseconds ? `${count(row.milliseconds)} ms` : '–') },
      { title: 'Messages', cell: (row) => target(row) },
      { title: 'Remaining', by: (row) => row.remaining, number: true, cell: (row) => count(row.remaining) },
      { title: 'Hits', number: true, cell: (row) => (row.hits > 0 ? badge('warn', count(row.hits)) : '0') },
      { title: 'Change', cell: (row) => forRole('faults remove', button('Remove', run('faults remove', { fault: row.fault }), { kind: 'small' })) },
    ], rows, { empty: 'None: messages are treated as on any other server.' }),
    rows.length > 0 && h('div', { class: 'row' }, forRole('faults clear', button('Remove all', run('faults clear', {}))), ctl('faults clear')),
    place,
  ];
}

function target({ token, sender_id: sender }) {
  if (token) return ['to ', h('a', { href: link(['messages', token]) }, mono(short(token)))];
  return ['of sender ', h('a', { href: link(['senders', sender]) }, sender)];
}

function addForm(signal, refresh) {
  const place = h('div', {});
  const command = h('div', {}, ctl('faults add', { action: 'refuse', token: 'TOKEN', error: 'SERVICE_UNAVAILABLE' }));
  return form((values, pressed) => act(pressed, place, async () => {
    const args = {};
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue;
      args[name] = ['count', 'milliseconds'].includes(name) && /^\d+$/.test(value) ? Number(value) : value;
    }
    fill(command, ctl('faults add', args));
    const { fault } = await call('faults add', args, signal);
    await refresh();
    return notice('good', `Fault ${fault} waits for a message`);
  }), h('div', { class: 'grid' },
    choiceField('Action', 'action', actions, 'refuse'),
    textField('Token', 'token', { help: 'The messages to one registration…' }),
    textField('Sender ID', 'sender_id', { inputmode: 'numeric', help: '… or those of one sender.' }),
    textField('Number of messages', 'count', { inputmode: 'numeric', help: 'Empty: 1.' }),
    textField('Error', 'error', { help: 'With refuse: of any interface, such as SERVICE_UNAVAILABLE or UNREGISTERED.' }),
    textField('Milliseconds', 'milliseconds', { inputmode: 'numeric', help: 'With delay.' })),
  h('div', { class: 'buttons' }, forRole('faults add', h('button', { type: 'submit', class: 'primary' }, 'Add'))), place, command);
}
