// The webhook of a sender: how its endpoint answers, its secret, pauses and removal.
import { call } from '../api.js';
import { h } from '../dom.js';
import { count, time, words } from '../format.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { confirm, showOnce } from '../components/dialog.js';
import { button, form, textField } from '../components/form.js';
import { act, load } from '../components/notice.js';
import { badge, facts } from '../components/table.js';

const daySeconds = 86400;
const health = { active: 'good', paused: 'warn', gone: 'bad' };

/** Creates the section. */
export function webhook(id, signal) {
  const box = h('div', {});
  const refresh = () => load(box, call('senders webhook list', {}, signal), ({ webhooks }) => {
    const row = webhooks.find((each) => each.sender_id === id);
    return row ? [state(row), changes(row, refresh), endpoint(id, row.url, refresh)] : [
      h('p', {}, 'No endpoint. While no app server is connected, its messages and receipts wait in the store.'),
      endpoint(id, '', refresh),
    ];
  });
  refresh();
  return box;
}

function state({ url, state: word, created_at: since, secrets_made_at: secrets, delivery, ...row }) {
  return facts(
    ['Endpoint', url], ['State', badge(health[word], words(word))], ['Set', time(since)],
    ['Secret made', time(secrets.at(-1))],
    row.old_secret_expires_at && ['Older secret signs until', time(row.old_secret_expires_at)],
    ...(delivery ? answers(delivery) : []),
  );
}

/** What this daemon has seen of the endpoint since its start. */
function answers(delivery) {
  const { last_failure: failure, retries_in_seconds: wait } = delivery;
  return [
    ['Answered with 2xx', `${count(delivery.acknowledged)}${since(delivery.last_acknowledged_at)}`],
    ['Failed', `${count(delivery.failed)}, ${count(delivery.failures_in_row)} of them since the last 2xx`],
    ['Now', `${count(delivery.in_flight)} in flight, ${count(delivery.waiting)} waiting`],
    failure && ['Last failure', `${failure}${since(delivery.last_failure_at)}`],
    wait !== undefined && ['Paused for its failures', `the next request is sent in ${count(wait)} s`],
  ];
}

function since(at) {
  return at === undefined ? '' : `, the last on ${time(at)}`;
}

function changes({ sender_id: id, state: word }, refresh) {
  const place = h('div', {});
  const target = { sender_id: id };
  const change = (title, name, args, question, kind) => forRole(name,
    button(title, (event) => act(event.currentTarget, place, async () => {
      if (question && !(await confirm(`${title}?`, question, title, [name, args]))) return;
      const { secret } = await call(name, args);
      if (secret) await showOnce('The new secret of the webhook', 'It is shown only now.', secret);
      await refresh();
    }), { kind }));
  const overlap = { ...target, overlap_seconds: daySeconds };
  return h('div', {},
    h('div', { class: 'row' },
      word === 'active'
        ? change('Pause the webhook', 'senders webhook pause', target,
          'Its messages wait in the store until it is resumed or an app server connects.')
        : change('Resume the webhook', 'senders webhook resume', target),
      change('Rotate the secret', 'senders webhook rotate', overlap,
        'Requests are signed with the old secret as well for a day.'),
      change('Remove the webhook', 'senders webhook clear', target,
        'Its secrets are deleted. Messages wait for an app server.', 'danger')),
    place, ctl(`senders webhook ${word === 'active' ? 'pause' : 'resume'}`, target),
    ctl('senders webhook rotate', overlap), ctl('senders webhook clear', target));
}

function endpoint(id, url, refresh) {
  const place = h('div', {});
  const name = 'senders webhook set';
  return form((values, pressed) => act(pressed, place, async () => {
    const { secret } = await call(name, { sender_id: id, url: values.url ?? '' });
    if (secret) {
      await showOnce('The secret of the webhook', 'The endpoint checks signatures with it. It is shown only now.', secret);
    }
    await refresh();
  }), h('div', { class: 'row' },
    textField('URL of the endpoint', 'url', {
      value: url, inputmode: 'url',
      help: 'With https. It gets the messages and receipts while no app server is connected.',
    }),
    forRole(name, h('button', { type: 'submit' }, url ? 'Change the endpoint' : 'Set the endpoint'))),
  place, ctl(name, { sender_id: id, url: url || 'URL' }));
}
