// What an operator does now and then: drain, backup, audit, clock, cluster, log of commands.
import { call } from '../api.js';
import { h, fill, said } from '../dom.js';
import { bytes, count, plural, time } from '../format.js';
import { forRole, mayRun } from '../operator.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField, checkField } from '../components/form.js';
import { act, load, notice } from '../components/notice.js';
import { facts, pages, section, table, badge } from '../components/table.js';
import { clockBox } from './clock.js';
import { cluster } from './cluster.js';
import { auditBox } from './store-audit.js';

/** Creates the page; the cluster and the log of commands have pages of their own. */
export function operations({ segments: [, part], query, signal }) {
  const parts = [[undefined, 'Daily'], ['cluster', 'Cluster'], ['log', 'Log of commands']];
  const tabs = h('nav', { class: 'tabs', 'aria-label': 'Parts of operations' }, parts.map(([path, title]) => h('a', {
    href: link(path ? ['operations', path] : ['operations']), 'aria-current': part === path && 'page',
  }, title)));
  if (part === 'cluster') return [tabs, cluster(signal)];
  if (part === 'log') return [tabs, log(query, signal)];
  return [
    tabs,
    section('Drain', drain()),
    section('Backup', backup()),
    section('Audit of the store', audit()),
    section('Configuration', reload()),
    section('Clock', clockBox(signal)),
  ];
}

/** Creates a button that runs a command and shows its result. */
function runner(name, text, args, show, { question } = {}) {
  const place = h('div', {});
  const press = forRole(name, button(text, (event) => act(event.currentTarget, place, async () => {
    if (question && !(await confirm(text, question, text, [name, args]))) return null;
    return show(await call(name, args));
  }), { kind: 'primary' }));
  return [h('div', { class: 'row' }, ctl(name, args), press), place];
}

function drain() {
  return [h('p', { class: 'quiet' },
    'Asks all app servers to reconnect, then closes their connections one by one. Nothing is lost; devices stay connected. The page of a sender drains a single one.',
  ),
    runner('drain', 'Drain all app servers',
      {},
      ({ sessions }) => notice('good', `${plural(sessions, 'session')} draining`),
      { question: 'All app servers have to reconnect.' },
    )];
}

function backup() {
  const place = h('div', {});
  const command = h('div', {}, ctl('backup', { path: 'FOLDER' }));
  return [form(({ path }, pressed) => act(pressed, place, async () => {
    fill(command, ctl('backup', { path: path ?? '' }));
    const made = await call('backup', { path: path ?? '' });
    return h('div', {}, notice('good',
      `${count(made.files)} files, ${bytes(made.bytes)}`,
      h('p', {},
        `Written to ${made.path} in ${count(made.milliseconds)} ms. Copy it to another machine, and keep it as safe as the data directory.`,
      ),
    ),
      made.not_included.length > 0 && h('p', {}, `Not included, and needed as well: ${made.not_included.join(', ')}`));
  }), h('div', { class: 'row' },
    textField('New folder on the server', 'path', { placeholder: '/var/lib/ccsd-backup/monday', required: true }),
    forRole('backup', h('button', { type: 'submit', class: 'primary' }, 'Back up')))), place, command];
}

function audit() {
  return [h('p', { class: 'quiet' },
    'Counts all messages in the store and checks that each accepted one was delivered, forwarded, replaced, expired, discarded or removed, or waits.',
  ),
    runner('audit', 'Check now', {}, auditBox)];
}

function reload() {
  return [h('p', { class: 'quiet' }, 'Loads the configuration and certificates again. If anything is invalid, nothing changes.'),
    runner('reload', 'Reload', {}, ({ changed, needs_restart: restart }) => notice(restart.length
      ? 'warn' : 'good', 'Reloaded', facts(
      ['In use now', changed.join(', ') || 'no changes'], ['Needs a restart', restart.join(', ') || 'nothing'])))];
}

function log(query, signal) {
  if (!mayRun('audit-log')) return notice('warn', 'Not permitted', h('p', {}, 'The log of commands is for the role operator.'));
  const list = h('div', {});
  const args = {
    limit: 50,
    before: query.get('before') ?? undefined,
    command: query.get('command') ?? undefined,
    failed: query.get('failed') === 'true' || undefined,
  };
  load(list, call('audit-log', args, signal), (answer) => [
    table('Commands', [
      { title: 'Time', by: (row) => row.time, cell: (row) => time(row.time) },
      { title: 'Caller', cell: (row) => said`${row.user} ${row.pid}` },
      { title: 'Command', by: (row) => row.command, cell: (row) => row.command },
      { title: 'Arguments', by: (row) => row.arguments, cell: (row) => row.arguments },
      {
        title: 'Result',
        cell: (row) => [badge(row.result === 'ok' ? 'good' : 'bad', row.result), row.problem && ` ${row.problem}`],
      },
    ], answer.entries.toReversed(), { empty: 'No command matches.' }),
    pages(['operations', 'log'], Object.fromEntries(query),
      { after: query.get('before'), next: answer.next_before, cursor: 'before' },
    ), ctl('audit-log', args)]);
  return [form((values) => go(['operations', 'log'], values), h('div', { class: 'row' }, textField(
    'Command begins with',
    'command',
    { value: query.get('command') ?? '' },
  ),
    checkField('Only refused ones', 'failed', query.get('failed') === 'true'), h('button', { type: 'submit' }, 'Search'))), list];
}
