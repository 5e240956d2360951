// The messages to devices by hour and by day: two charts, and the same as tables.
import { call } from '../api.js';
import { h } from '../dom.js';
import { count, time } from '../format.js';
import { lines, samplesOf } from '../sums.js';
import { chart } from './chart.js';
import { ctl } from './command.js';
import { reload } from './notice.js';
import { table } from './table.js';

const hourMilliseconds = 3600000;
const shownHours = 48;
const shownDays = 28;
/** Milliseconds between two questions: the counts move slowly. */
const refreshMilliseconds = 60000;

const outcomes = ['accepted', 'delivered', 'forwarded', 'replaced', 'expired', 'discarded', 'removed', 'refused'];
const day = (moment) => new Date(moment).toISOString().slice(0, 10);

/** Creates the charts. */
export function totals(signal) {
  const place = h('div', {});
  const refresh = () => reload(place, call('messages hours', { hours: shownHours, days: shownDays }, signal), content);
  const timer = setInterval(() => document.hidden || refresh(), refreshMilliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
  refresh();
  return place;
}

function content({ hours, days, history: { since, missing = [] } }) {
  return [
    h('div', { class: 'charts' },
      chartOf('Messages to devices by hour', hours, 'hour', hourMilliseconds, shownHours, time),
      chartOf('Messages to devices by day (UTC)', days, 'day', 24 * hourMilliseconds, shownDays, day)),
    h('p', { class: 'quiet' }, `Counted since ${time(since)}.`,
      missing.length > 0 && ` Without node ${missing.join(', ')}, which has not answered.`),
    h('details', {}, h('summary', {}, 'As tables'), tableOf('Messages by day', days, 'day', 'Day (UTC)', day),
      tableOf('Messages by hour', hours, 'hour', 'Hour', time)),
    ctl('messages hours', { hours: shownHours, days: shownDays }),
  ];
}

function chartOf(title, rows, name, step, steps, when) {
  const samples = samplesOf(rows, name, step, steps);
  const sums = lines.map(([key]) => [key, samples.reduce((sum, { values }) => sum + values[key], 0)]);
  const source = Object.assign(new EventTarget(), { samples, summary: { values: Object.fromEntries(sums) }, note: `in ${steps} ${name}s` });
  return chart({ title, series: lines.map(([key, label]) => ({ key, label })), format: count, source, when });
}

function tableOf(caption, rows, name, title, when) {
  return table(caption, [
    { title, by: (row) => row[name], cell: (row) => when(row[name]) },
    ...outcomes.map((word) => ({
      title: word[0].toUpperCase() + word.slice(1), by: (row) => row.messages[word], number: true, cell: (row) => count(row.messages[word]),
    })),
  ], rows, { empty: 'None were counted.' });
}
