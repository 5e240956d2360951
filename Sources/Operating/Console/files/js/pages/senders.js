// The senders, with search, their sessions and counts, and a form for a new one.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, time } from '../format.js';
import { forRole } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { showOnce } from '../components/dialog.js';
import { form, textField } from '../components/form.js';
import { act, load } from '../components/notice.js';
import { badge, pages, section, table } from '../components/table.js';

/** Rows of one page. */
const pageRows = 50;

/** Creates the page. */
export function senders({ query, signal }) {
  const list = h('div', {});
  const search = (query.get('search') ?? '').toLowerCase();
  load(list, Promise.all([call('senders list', {}, signal), call('senders stats', {}, signal)]),
    ([{ senders: all }, stats]) => listOf(all, stats, search, query.get('after')));
  return [
    form((values) => go(['senders'], { search: values.search }),
      h('div', { class: 'row', role: 'search' },
        textField('Sender ID, label or project begins with', 'search', { value: search, type: 'search' }),
        h('button', { type: 'submit' }, 'Search'),
      )),
    list,
    section('Add a sender', addForm()),
  ];
}

function listOf(all, stats, search, after) {
  const figures = new Map(stats.senders.map((row) => [row.sender_id, row]));
  const found = all.filter((row) => [row.sender_id, row.label, row.project].some((text) => text.toLowerCase().startsWith(search)));
  const start = after ? found.findIndex((row) => row.sender_id === after) + 1 : 0;
  const shown = found.slice(start, start + pageRows);
  const next = start + pageRows < found.length ? shown.at(-1)?.sender_id : null;
  const figure = (row) => figures.get(row.sender_id);
  return [
    h('p', { class: 'quiet' }, `${count(found.length)} of ${count(all.length)} senders; since ${time(stats.since)} together ${['accepted', 'delivered', 'refused']
      .map((word) => `${count(sumOf(found.map(figure), word))} ${word}`).join(', ')}.`),
    table('Senders', [
      { title: 'Sender', by: (row) => row.sender_id, cell: (row) => h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) },
      { title: 'Label', by: (row) => row.label, cell: (row) => row.label || '–' },
      { title: 'Project', by: (row) => row.project, cell: (row) => row.project },
      { title: 'State', cell: (row) => (row.suspended ? badge('warn', 'suspended') : badge('good', 'active')) },
      { title: 'Keys', by: (row) => row.keys, number: true, cell: (row) => count(row.keys) },
      { title: 'Sessions', by: (row) => figure(row)?.sessions, number: true, cell: (row) => count(figure(row)?.sessions) },
      { title: 'Accepted', by: (row) => figure(row)?.downstream.accepted, number: true, cell: (row) => count(figure(row)?.downstream.accepted) },
      { title: 'Delivered', by: (row) => figure(row)?.downstream.delivered, number: true, cell: (row) => count(figure(row)?.downstream.delivered) },
      { title: 'Refused', by: (row) => refusedOf(figure(row)), number: true, cell: (row) => count(refusedOf(figure(row))) },
      {
        title: 'Waiting upstream',
        by: (row) => figure(row)?.waiting,
        number: true,
        cell: (row) => `${count(figure(row)?.waiting)}${figure(row)?.waiting_is_exact === false ? '+' : ''}`,
      },
    ], shown, { empty: 'No sender matches.' }),
    pages(['senders'], { search }, { after, next }), ctl('senders list'),
  ];
}

/** Messages of a sender that were refused, for any reason. */
function refusedOf(figure) {
  return Object.values(figure?.refused ?? {}).reduce((sum, value) => sum + value, 0);
}

function sumOf(figures, word) {
  return figures.reduce((sum, figure) => sum + (word === 'refused' ? refusedOf(figure) : figure?.downstream[word] ?? 0), 0);
}

function addForm() {
  const place = h('div', {});
  const command = h('div', {}, ctl('senders add'));
  const submit = (values, pressed) => act(pressed, place, async () => {
    fill(command, ctl('senders add', values));
    const added = await call('senders add', values);
    await showOnce('The server key of the new sender',
      `Sender ${added.sender_id} was added. Its key is shown only now: store it where your app server reads it.`,
      added.key,
    );
    go(['senders', added.sender_id]);
  });
  return form(submit, h('div', { class: 'grid' },
    textField('Label', 'label', { help: 'A name for listings.' }), textField('Project ID',
      'project',
      { help: 'Empty: ccs- and the sender ID.' },
    ),
    textField('Sender ID', 'sender_id', { inputmode: 'numeric', help: 'To keep an existing one. Empty: a random one.' })),
  h('div', { class: 'buttons' },
    forRole('senders add', h('button', { type: 'submit', class: 'primary' }, 'Add')),
  ), place, command);
}
