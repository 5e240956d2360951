// Searches the waiting messages of a device or a sender for the ID of a message; the store has no index of these IDs.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { count, distance } from '../format.js';
import { term } from '../glossary.js';
import { go, link } from '../router.js';
import { ctl } from '../components/command.js';
import { form, textField } from '../components/form.js';
import { notice, problemBox } from '../components/notice.js';
import { facts, section } from '../components/table.js';
import { sentTo } from './send.js';

/** Messages that one request returns, and that a search examines. */
const pageRows = 1000;
const examinedRows = 20000;

/** Creates the search for a message. */
export function findMessage(id, { device, sender, signal }) {
  const place = h('div', { 'aria-live': 'polite' });
  const sent = sentTo(id);
  if (device || sender) search(id, { device, sender_id: sender }, place, signal);
  return section('Find the message',
    sent && notice('info', 'Sent from here', h('p', {}, h('a', { href: link(['messages', sent]) }, 'Show where it was sent'))),
    h('p', { class: 'quiet' },
      'The ID of a message is unique only for its sender, and the server keeps a message until it is delivered. Name the device that it is for, or the sender whose app servers are to get it.',
    ),
    form((values) => go(['messages', id], values),
      h('div', { class: 'row' },
        textField('Device ID or token', 'device', { value: device ?? '' }), textField(
          'or sender ID',
          'sender',
          { value: sender ?? '', inputmode: 'numeric' },
        ),
        h('button', { type: 'submit' }, 'Search'))),
    place);
}

async function search(id, args, place, signal) {
  let after;
  let examined = 0;
  try {
    do {
      const page = await call('messages list', { ...args, limit: pageRows, after }, signal);
      examined += page.messages.length;
      const found = page.messages.find((row) => row.message_id === id || row.persistent_id === id);
      if (found) {
        fill(place, foundBox(found), ctl('messages list', args));
        return;
      }
      after = page.next_after;
      fill(place, h('p', { class: 'quiet' }, `${count(examined)} waiting messages searched…`));
    } while (after && examined < examinedRows);
    fill(place,
      notice('warn', 'Not among the waiting messages',
        h('p', {},
          `${count(examined)} were searched. A message that is not there was delivered, replaced or discarded, has expired, or was never accepted; a trace of its device shows the steps of the next one.`,
        ),
      ),
      ctl('messages list', args),
    );
  } catch (error) {
    if (error.name !== 'AbortError') fill(place, problemBox(error));
  }
}

function foundBox(row) {
  return [
    notice('good', 'It waits'),
    facts(
      ['Message ID', row.message_id], row.persistent_id && ['ID for the device', row.persistent_id],
      ['State', term(row.state, ['state'])], ['Kind', row.kind],
      ['Device', h('a', { href: link(['messages', row.device]) }, row.device)],
      ['App', row.app || '–'], row.sender_id && ['Sender', h('a', { href: link(['senders', row.sender_id]) }, row.sender_id)],
      ['Accepted', distance(row.stored_at)], ['Expires', distance(row.expires_at)]),
  ];
}
