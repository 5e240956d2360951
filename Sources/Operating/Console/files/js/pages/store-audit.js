// The result of the audit of the store.
import { h } from '../dom.js';
import { count, words } from '../format.js';
import { notice } from '../components/notice.js';
import { facts, table } from '../components/table.js';

const kinds = ['devices', 'registrations', 'senders', 'groups', 'installations', 'subscriptions', 'topic_messages', 'partitions'];

/** Creates the box for an answer of `audit`. */
export function auditBox(answer) {
  const milestones = Object.keys(answer.downstream);
  return h('div', {},
    answer.holds ? notice('good', 'No message is missing') : notice('bad',
      'Messages are missing or counted twice',
      h('p', {}, 'Keep the data directory and the log, and report it.'),
    ),
    table('Messages by milestone', [
      { title: 'Direction', cell: ([title]) => title },
      ...milestones.map((name) => ({ title: words(name), number: true, cell: ([, values]) => count(values[name]) })),
    ], [['to devices', answer.downstream], ['to app servers', answer.upstream]]),
    facts(...kinds.map((name) => [words(name), count(answer[name])])),
    answer.unreadable.length > 0 && notice('bad', 'Unreadable records',
      h('ul', {}, answer.unreadable.map((key) => h('li', {}, key))),
    ));
}
