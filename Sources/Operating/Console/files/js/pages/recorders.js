// The recorders of the test bench: they take what devices send while no app server is connected.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count } from '../format.js';
import { forRole } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { messageList } from '../components/message-list.js';
import { act, load } from '../components/notice.js';
import { badge, section, table } from '../components/table.js';

/** Creates the page: all recorders, or what one has taken. */
export function recorders(sender, signal) {
  return sender ? recorder(sender, signal) : recorderList(signal);
}

function recorder(sender, signal) {
  const args = { sender_id: sender };
  return [
    h('p', {}, h('a', { href: link(['inbox', 'recorders']) }, 'All recorders')),
    section('Messages and receipts', messageList({
      name: 'recorders messages', args, clear: () => call('recorders clear', args, signal), signal,
    }), ctl('recorders clear', args)),
  ];
}

function recorderList(signal) {
  const list = h('div', {});
  const refresh = () => load(list, call('recorders list', {}, signal), ({ recorders: rows }) => recorderTable(rows, refresh));
  refresh();
  return [
    h('p', { class: 'quiet' },
      'A recorder stands in for an app server: it acknowledges what devices send to its sender, and keeps it. It gets nothing while an app server is connected or a webhook is active.'),
    section('Recorders', list, ctl('recorders list')),
    section('Begin one', addForm(signal, refresh)),
  ];
}

function recorderTable(rows, refresh) {
  const place = h('div', {});
  const remove = (args) => button('Remove', (event) => act(event.currentTarget, place, async () => {
    const text = 'What devices send from then on waits for an app server.';
    if (!(await confirm('Remove the recorder?', text, 'Remove', ['recorders remove', args]))) return;
    await call('recorders remove', args);
    await refresh();
  }), { kind: 'small danger' });
  return [
    table('Recorders', [
      { title: 'Sender', cell: (row) => h('a', { href: link(['inbox', 'recorders', row.sender_id]) }, row.sender_id) },
      { title: 'Received', by: (row) => row.received, number: true, cell: (row) => count(row.received) },
      { title: 'Dropped', by: (row) => row.dropped, number: true, cell: (row) => count(row.dropped) },
      { title: 'Connected', cell: (row) => (row.connected ? badge('good', 'yes') : badge('warn', 'no')) },
      { title: 'Webhook', cell: (row) => (row.webhook ? badge('warn', 'active: it gets the messages') : 'none') },
      { title: 'Action', cell: (row) => forRole('recorders remove', remove({ sender_id: row.sender_id })) },
    ], rows, { empty: 'None yet.' }), place,
  ];
}

function addForm(signal, refresh) {
  const place = h('div', {});
  const command = h('div', {}, ctl('recorders add', { sender_id: 'SENDER' }));
  return form(({ sender_id: sender }, pressed) => act(pressed, place, async () => {
    const args = { sender_id: sender ?? '' };
    fill(command, ctl('recorders add', args));
    await call('recorders add', args, signal);
    await refresh();
    go(['inbox', 'recorders', args.sender_id]);
  }), h('div', { class: 'row' }, textField('Sender ID', 'sender_id', { inputmode: 'numeric', required: true }),
    forRole('recorders add', h('button', { type: 'submit', class: 'primary' }, 'Record'))), place, command);
}
