// The clock of the server: whether it is trusted, and how far a test clock is ahead.
import { call } from '../api.js';
import { h } from '../dom.js';
import { span, time } from '../format.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { act, load, notice, sentence } from '../components/notice.js';
import { badge, facts } from '../components/table.js';

/** Creates the content of the section. */
export function clockBox(signal) {
  const state = h('div', {});
  const place = h('div', {});
  const refresh = () => load(state, call('clock show', {}, signal), (answer) => [
    facts(['Time of the server', time(answer.time)],
      ['Trusted', answer.in_doubt ? badge('bad', 'no') : badge('good', 'yes'), answer.problem && ` ${sentence(answer.problem)}`],
      answer.trusted_in_seconds !== undefined && ['Trusted without confirmation in', span(answer.trusted_in_seconds)],
      answer.test_clock && ['Test clock', aheadText(answer.test_clock)]),
    answer.in_doubt && accept(place, refresh),
    answer.test_clock && advance(place, refresh),
  ]);
  refresh();
  return [state, place, ctl('clock show')];
}

function aheadText({ advanced_seconds: seconds, machine_time: machine }) {
  return seconds > 0 ? `${span(seconds)} ahead of the machine, where it is ${time(machine)}` : 'not moved yet';
}

function accept(place, refresh) {
  return h('div', { class: 'row' }, ctl('clock accept'),
    forRole('clock accept', button('Accept the clock', (event) => act(event.currentTarget, place, async () => {
      if (!(await confirm('Accept the clock?', 'What is overdue by the clock of the machine expires, and cannot be restored.',
        'Accept', ['clock accept', {}]))) return null;
      const { time: accepted } = await call('clock accept');
      await refresh();
      return notice('good', 'The clock is trusted', h('p', {}, time(accepted)));
    }), { kind: 'danger' })));
}

function advance(place, refresh) {
  return form(({ duration }, pressed) => act(pressed, place, async () => {
    const clock = await call('clock advance', { duration });
    await refresh();
    return notice('good', 'The time is moved', h('p', {}, `The server is ${span(clock.advanced_seconds)} ahead of the machine.`),
      ctl('clock advance', { duration }));
  }), h('div', { class: 'row' },
    textField('Move the time forward by', 'duration',
      { value: '1d', required: true, help: 'Such as 90s, 15m, 6h, 28d or 4w. It never goes back.' }),
    forRole('clock advance', h('button', { type: 'submit', class: 'primary' }, 'Move'))), ctl('clock advance', { duration: '28d' }));
}
