// The state of the server at a glance.
import { call } from '../api.js';
import { h } from '../dom.js';
import { figures } from '../figures.js';
import { bytes, count, distance, duration, plural, rate, span, time, words } from '../format.js';
import { term } from '../glossary.js';
import { link } from '../router.js';
import { chart } from '../components/chart.js';
import { ctl } from '../components/command.js';
import { notice, reload, sentence } from '../components/notice.js';
import { badge, facts, section, table } from '../components/table.js';
import { totals } from '../components/totals.js';

/** Milliseconds between two questions for the health and the status. */
const refreshMilliseconds = 10000;

/** A line of a chart for each pair of a series and its name. */
const lines = (series) => Object.entries(series).map(([key, label]) => ({ key, label }));
/** The chart of a latency. */
const latency = (title, name) => ({ title, format: duration, series: lines({ [`${name}_50`]: 'median', [`${name}_99`]: '99 of 100' }) });

const charts = [
  {
    title: 'Messages to devices per second',
    format: rate,
    series: lines({ down_accepted: 'accepted', down_delivered: 'delivered', down_refused: 'refused' }),
  },
  { title: 'Messages from devices per second', format: rate, series: lines({ up_accepted: 'accepted', up_delivered: 'delivered' }) },
  latency('Time to the ACK', 'ack_downstream'),
  latency('Time to the delivery', 'delivery'),
  latency('Sync of the store', 'store_sync'),
  { title: 'Waiting messages', format: count, series: lines({ waiting_down: 'for devices', waiting_up: 'for app servers' }) },
  { title: 'Connections', format: count, series: lines({ connections: 'open', sessions: 'logged in' }) },
  { title: 'Processor', format: (value) => `${rate(value)} %`, series: lines({ cpu: 'of one processor' }) },
];

/** Creates the page. */
export function overview({ signal }) {
  const health = h('div', { class: 'health' });
  const status = h('div', {});
  const live = h('div', {});
  const refresh = () => {
    reload(health, call('health', {}, signal), healthBox);
    reload(status, call('status', {}, signal), statusBox);
  };
  const timer = setInterval(() => document.hidden || refresh(), refreshMilliseconds);
  const redraw = () => figures.latest && reload(live, tablesOf(figures.latest), liveTables);
  figures.addEventListener('change', redraw, { signal });
  signal.addEventListener('abort', () => clearInterval(timer));
  refresh();
  redraw();
  return [
    health,
    section('Live', h('div', { class: 'charts' }, charts.map(chart)), live, ctl('top')),
    section('Hours and days', totals(signal)),
    section('Server', status, ctl('status')),
  ];
}

function healthBox({ healthy, state, findings }) {
  if (healthy) return notice('good', 'All is well',
    h('p', {}, `ccsd is ${state}: the store, clock, registry, disk, descriptors and certificates are in order.`),
    ctl('health'),
  );
  return h('div', { class: 'notice bad', role: 'status' },
    h('strong', {}, plural(findings.length, 'thing needs', 'things need'), ' attention'),
    h('ul', {},
      findings.map(({ cause, problem, action }) => h('li', {},
        h('strong', {}, words(cause)),
        `: ${sentence(problem)} ${sentence(action)}`,
      )),
    ),
    ctl('health'));
}

function statusBox(status) {
  const { store, registry, cluster } = status;
  return [
    facts(
      ['State', badge(status.state === 'serving' ? 'good' : 'warn', status.state)],
      ['Version', status.version], ['Up for', span(status.uptime_seconds)],
      ['App servers', count(status.app_servers)], ['Devices connected', count(status.devices)],
      [
        'Store',
        badge(store.healthy ? 'good' : 'bad', store.healthy ? 'accepts writes' : 'fails'),
        ` ${store.kind}, ${plural(store.partitions, 'partition')}, ${store.path}`,
      ],
      [
        'Registry',
        `${bytes(registry.bytes)}${registry.limit ? ` of ${bytes(registry.limit)}` : ''}`,
        registry.full && badge('bad', 'full'),
      ],
      ['Certificate', `ends ${distance(status.certificate_not_after)} (${time(status.certificate_not_after)})`],
      status.clock_problem && ['Clock', badge('bad', status.clock_problem)],
      cluster && ['Cluster', h('a', { href: link(['operations', 'cluster']) },
        `node ${cluster.node} ${cluster.name}`,
      ), ` owns ${cluster.owned} of ${cluster.partitions} partitions, `,
        badge(cluster.alarms ? 'bad' : 'good', cluster.alarms ? plural(cluster.alarms, 'alarm') : 'no alarms')]),
    table('Listeners', [
      { title: 'Listener', by: (row) => row.name, cell: (row) => words(row.name) },
      { title: 'Address', cell: (row) => (row.port ? `${row.address}:${row.port}` : row.address) },
      { title: 'Open', number: true, cell: (row) => count(figures.latest?.connections[row.name]) },
    ], status.listeners),
  ];
}

/** The part of the figures that the tables show, so that they change only with it. */
function tablesOf({ senders, refusals }) {
  return { senders: senders.slice(0, 8), refused: Object.entries(refusals).sort((a, b) => b[1] - a[1]).slice(0, 8) };
}

function liveTables({ senders, refused }) {
  return h('div', { class: 'pair' },
    h('div', {}, h('h3', {}, 'Busiest senders'), table('Busiest senders', [
      {
        title: 'Sender',
        cell: (row) => (row.sender_id ? h('a', { href: link(['senders', row.sender_id]) }, row.sender_id) : 'all others'),
      },
      { title: 'Accepted', by: (row) => row.downstream.accepted, number: true, cell: (row) => count(row.downstream.accepted) },
      { title: 'Delivered', by: (row) => row.downstream.delivered, number: true, cell: (row) => count(row.downstream.delivered) },
      { title: 'Refused', by: (row) => row.downstream.refused, number: true, cell: (row) => count(row.downstream.refused) },
      { title: 'Upstream', by: (row) => row.upstream.accepted, number: true, cell: (row) => count(row.upstream.accepted) },
    ], senders, { empty: 'No sender has sent since the start.' })),
    h('div', {}, h('h3', {}, 'Refusals since the start'), table('Refusals since the start', [
      { title: 'Reason', cell: ([reason]) => term(reason, ['refusal']) },
      { title: 'Count', by: ([, value]) => value, number: true, cell: ([, value]) => count(value) },
    ], refused, { empty: 'Nothing was refused.' })));
}
