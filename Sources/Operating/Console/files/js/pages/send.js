// The form for a test message, as fields or as JSON, and its fate: ACK or NACK, delivery, receipt.
import { call } from '../api.js';
import { h, fill } from '../dom.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { areaField, checkField, choiceField, form, textField, values } from '../components/form.js';
import { act } from '../components/notice.js';
import { pairsField, pairsOf } from '../components/pairs.js';
import { fateOf } from './send-result.js';

const optional = ['collapse_key', 'message_id', 'priority', 'raw_data'];
const sent = new Map();

/** Returns where a message was sent from this page, by its ID; undefined for others. */
export function sentTo(id) {
  return sent.get(id);
}

/** Creates the form. With a trace, the fate of the message is followed in it. */
export function sendForm({ to, sender = '', tracing = null, signal = undefined }) {
  const fate = h('div', { class: 'fate', 'aria-live': 'polite' });
  const command = h('div', {});
  const fields = h('div', { class: 'fields' }, pairsField(['title', 'Hello'], ['body', 'A test message']),
    h('details', {}, h('summary', {}, 'More fields'), h('div', { class: 'grid' },
      textField('Collapse key', 'collapse_key', { help: 'Replaces a waiting message with the same key.' }),
      textField('Lifetime in seconds', 'time_to_live', { inputmode: 'numeric', help: '0: now or never. Empty: four weeks.' }),
      choiceField('Priority', 'priority', [['', 'default'], ['normal', 'normal'], ['high', 'high']]),
      textField('Notification title', 'notification_title', { help: 'Shown by the device or the app.' }),
      textField('Notification body', 'notification_body'),
      textField('Message ID', 'message_id', { help: 'Empty: generated. The receipt repeats it.' }),
      textField('Raw data (Base64)', 'raw_data', { help: 'Instead of the pairs above.' }),
      checkField('Ask for a delivery receipt', 'delivery_receipt_requested'))));
  const json = areaField('Arguments of the command send, as JSON', 'json',
    { rows: 9, help: 'The fields of a downstream message: sender_id, to, data, notification, collapse_key, time_to_live, priority … Or paste a request of HTTP v1: {"message": {…}}.' },
  );
  const senderField = textField('Sender ID', 'sender_id', { value: sender ?? '', inputmode: 'numeric', required: true });
  const toField = textField('To', 'to',
    { value: to, required: true, help: 'A registration token, a group key or /topics/NAME.' },
  );
  const plain = h('div', {}, h('div', { class: 'grid' }, senderField, toField), fields);
  json.hidden = true;
  const asJSON = h('input', { type: 'checkbox', on: { change: () => {
    if (asJSON.checked) json.querySelector('textarea').value = JSON.stringify(message(element), null, 2);
    json.hidden = !asJSON.checked;
    plain.hidden = asJSON.checked;
  } } });
  const submit = (_, pressed) => act(pressed, fate, async () => {
    const args = asJSON.checked ? parsed(json.querySelector('textarea').value, values(element).sender_id) : message(element);
    fill(command, ctl('send', args));
    const answer = await call('send', args, signal);
    sent.set(answer.message_id, targetOf(args));
    return fateOf(answer, args, tracing, signal);
  });
  const element = form(submit, plain, h('label', { class: 'check' }, asJSON, 'Write it as JSON'), json,
    h('div', { class: 'buttons' }, forRole('send', h('button', { type: 'submit', class: 'primary' }, 'Send'))), fate, command);
  return element;
}

/** Returns the arguments that the fields hold. */
function message(element) {
  const given = values(element);
  const args = { sender_id: given.sender_id, to: given.to };
  for (const field of optional) if (given[field]) args[field] = given[field];
  if (given.time_to_live) args.time_to_live = /^\d+$/.test(given.time_to_live) ? Number(given.time_to_live) : given.time_to_live;
  if (given.delivery_receipt_requested) args.delivery_receipt_requested = true;
  const shown = [['title', given.notification_title], ['body', given.notification_body]].filter(([, text]) => text);
  if (shown.length) args.notification = Object.fromEntries(shown);
  const data = pairsOf(element);
  if (!given.raw_data && data) args.data = data;
  return args;
}

/** Returns the target of a message, also of one of HTTP v1. */
function targetOf(args) {
  const v1 = args.message?.message ?? args.message;
  return args.to ?? v1?.token ?? v1?.fid ?? (v1?.topic ? `/topics/${v1.topic}` : v1?.condition);
}

/** Returns the arguments in a text. A request of HTTP v1 names no sender: it is sent as the one of the form. */
function parsed(text, sender) {
  try {
    const args = JSON.parse(text);
    if (!args.message || args.sender_id) return args;
    return { sender_id: sender, message: args };
  } catch (error) {
    throw Object.assign(new Error(`invalid JSON: ${error.message}`),
      { hint: 'expected an object such as {"sender_id": "1", "to": "…", "data": {"key": "value"}}' },
    );
  }
}
