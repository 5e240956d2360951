// The nodes and partitions of the cluster, and the handover of a partition.
import { call } from '../api.js';
import { h, fill, said } from '../dom.js';
import { count, duration, words } from '../format.js';
import { term } from '../glossary.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { form, textField } from '../components/form.js';
import { act, load, notice, sentence } from '../components/notice.js';
import { badge, facts, section, table } from '../components/table.js';

const statusKinds = { this: 'good', alive: 'good', suspected: 'warn', gone: 'bad', unseen: 'plain' };

/** Creates the page. */
export function cluster(signal) {
  const place = h('div', {});
  const refresh = () => load(place, statusOf(signal), (answer) => (answer ? status(answer, handoverForm) : alone()));
  // It shows its result below itself, so it stays when the rest is read again.
  const handoverForm = handover(refresh);
  refresh();
  return place;
}

/** Returns the status of the cluster; null if the server belongs to none. */
async function statusOf(signal) {
  const { cluster: membership } = await call('status', {}, signal);
  return membership && call('cluster status', {}, signal);
}

function alone() {
  return notice('info', 'This server belongs to no cluster', h('p', {}, 'With ccsctl cluster found several servers share the load, and one may fail.'));
}

function status(answer, handoverForm) {
  return [
    answer.alarms.length > 0 ? alarmBox(answer.alarms) : notice('good', 'No alarms'),
    facts(['Cluster', answer.cluster], ['This node', `${answer.node} ${answer.name}`],
      ['Log', logBadge(answer.log)], ['Draining', answer.draining ? 'yes' : 'no']),
    section('Nodes', members(answer)),
    section('Partitions', partitions(answer)),
    section('Hand a partition over', handoverForm),
    ctl('cluster status'),
  ];
}

function alarmBox(alarms) {
  return h('div', { class: 'notice bad' }, h('strong', {}, 'Alarms'), h('ul', {}, alarms.map(({ cause, problem, action }) => h('li', {},
    term(cause, ['alarm of a cluster'], words(cause)), `: ${sentence(problem)} ${sentence(action)}`))));
}

function logBadge({ server, disconnected_seconds: seconds }) {
  return server ? badge('good', server) : badge('bad', `no connection for ${count(seconds)} s`);
}

function members(answer) {
  return table('Nodes', [
    { title: 'Node', cell: (row) => said`${row.node} ${row.name}` },
    { title: 'Status', cell: (row) => [badge(statusKinds[row.status], row.status)] },
    { title: 'Address', by: (row) => row.address, cell: (row) => row.address },
    { title: 'Version', by: (row) => row.software, cell: (row) => row.software ?? '–' },
    { title: 'Partitions', by: (row) => row.owned, number: true, cell: (row) => count(row.owned) },
    { title: 'Link', cell: (row) => (row.linked === null ? '–' : row.linked ? 'yes' : 'no') },
    { title: 'Round trip', number: true, cell: (row) => duration(row.round_trip_microseconds) },
    {
      title: 'Heartbeat',
      number: true,
      cell: (row) => (row.silent_milliseconds === null ? '–' : duration(row.silent_milliseconds * 1000)),
    },
  ], answer.members);
}

function partitions(answer) {
  return table('Partitions', [
    { title: 'Partition', by: (row) => row.partition, cell: (row) => row.partition },
    { title: 'Owner', by: (row) => row.owner, cell: (row) => row.owner ?? 'unknown' },
    { title: 'Role here', cell: (row) => term(row.role, ['role in a partition']) },
    { title: 'Epoch', by: (row) => row.epoch, number: true, cell: (row) => count(row.epoch) },
    { title: 'Behind', by: (row) => row.behind, number: true, cell: (row) => count(row.behind) },
    { title: 'Unconfirmed', by: (row) => row.unconfirmed, number: true, cell: (row) => count(row.unconfirmed) },
  ], answer.partitions);
}

function handover(refresh) {
  const place = h('div', {});
  const command = h('div', {}, ctl('cluster handover', { partition: 'PARTITION' }));
  return form((values, pressed) => act(pressed, place, async () => {
    fill(command, ctl('cluster handover', values));
    const done = await call('cluster handover', { partition: Number(values.partition), to: values.to && Number(values.to) });
    await refresh();
    return notice('good',
      `Node ${done.owner} owns partition ${done.partition}`,
      h('p', {}, `The handover took ${count(done.milliseconds)} ms.`),
    );
  }), h('div', { class: 'row' },
    textField('Partition', 'partition', { inputmode: 'numeric', required: true }),
    textField('To node', 'to', { inputmode: 'numeric', help: 'Empty: the one with the fewest partitions.' }),
    forRole('cluster handover', h('button', { type: 'submit' }, 'Hand over'))), place, command);
}
