// Finds what an operator pastes, and shows it with what waits for it, its live trace and a form for a test message.
import { h } from '../dom.js';
import { distance, time } from '../format.js';
import { go } from '../router.js';
import { targetOf, tokenLength } from '../target.js';
import { form, textField } from '../components/form.js';
import { notice } from '../components/notice.js';
import { section } from '../components/table.js';
import { deviceView } from './device-view.js';
import { findMessage } from './find-message.js';
import { sendForm } from './send.js';

/** Creates the page. */
export function messages({ segments, query, signal }) {
  const target = targetOf(segments[1]);
  return [search(target.text), content(target, query, signal)];
}

function search(text) {
  const field = textField(
    'Token, device ID, message ID, group key or /topics/NAME',
    'target',
    { value: text, type: 'search', required: true },
  );
  field.classList.add('grow');
  queueMicrotask(() => text === '' && field.querySelector('input').focus());
  return form(({ target }) => target && go(['messages', target]),
    h('div', { class: 'row', role: 'search' }, field, h('button', { type: 'submit', class: 'primary' }, 'Show')));
}

function content(target, query, signal) {
  switch (target.kind) {
  case 'nothing': return introduction();
  case 'device': case 'token': return deviceView(target.text, { signal });
  case 'part': return notice('warn', 'A part of a token', h('p', {},
    `A token has ${tokenLength} characters, and these are ${target.text.length}. Copy it as a whole: the parts of a token name no device.`));
  case 'topic': return section('Send to the topic', sendForm({ to: target.text, sender: query.get('sender'), signal }));
  case 'group': return section('Send to the group', sendForm({ to: target.text, sender: query.get('sender'), signal }));
  case 'message': return [
    target.storedAt && notice('info', 'The ID that a device sees',
      h('p', {}, `It was given ${distance(target.storedAt)}, on ${time(target.storedAt)}.`),
    ),
    findMessage(target.text, { device: query.get('device'), sender: query.get('sender'), signal }),
  ];
  default: return null;
  }
}

function introduction() {
  return [
    h('p', { class: 'quiet' },
      'With a token or a device ID, this page shows the device, its apps, what waits for it, and each step of its messages as it happens. With the ID of a message it searches the waiting messages.',
    ),
    section('Send a test message', sendForm({ to: '' })),
  ];
}
