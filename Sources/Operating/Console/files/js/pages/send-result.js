// The fate of a test message: its ACK or NACK at once, then its steps in the trace, and its receipt.
import { call } from '../api.js';
import { h, add, said } from '../dom.js';
import { clock, plural } from '../format.js';
import { meaning, reasonsOf } from '../glossary.js';
import { isEnd } from '../outcome.js';
import { notice } from '../components/notice.js';

/** Milliseconds after the delivery in which a receipt is stored. */
const receiptMilliseconds = 700;

/** Returns a box for the answer; with a trace it grows with each step of the message. */
export function fateOf(answer, args, tracing, signal) {
  if (answer.outcome === 'nack') return nack(answer);
  const steps = h('ol', { class: 'steps' });
  const box = notice('good', 'ACK', h('p', {}, said`The server accepted message ${answer.message_id}.`, members(answer)), steps);
  if (tracing) follow(answer, args, tracing, steps, signal);
  return box;
}

function members({ success, failure }) {
  if (success === undefined) return null;
  return ` It was accepted for ${plural(success, 'member')} of the group, and refused for ${failure ?? 0}.`;
}

function nack({ error, error_description: description }) {
  const reasons = reasonsOf(error);
  return h('div', { class: 'notice bad', role: 'alert' },
    h('strong', {}, `NACK ${error}`), h('p', {}, description),
    h('p', {}, reasons.length > 1 ? 'This code has these reasons:' : 'What it means:'),
    h('ul', {}, reasons.map((reason) => h('li', {}, h('code', {}, reason.reason), ` ${reason.meaning} `,
      h('em', {},
        reason.again === 'later' ? 'Send it again later, with exponential backoff.'
          : 'The same message will be refused again: correct it first.',
      )))));
}

/** Shows the steps of one message. Those before the answer are in the trace already. */
function follow(answer, args, tracing, steps, signal) {
  const seen = new Set();
  const take = (step) => {
    if (step.message_id !== answer.message_id || step.direction !== 'downstream' || seen.has(step.step)) return;
    seen.add(step.step);
    steps.append(h('li', {}, h('strong', {}, step.step), ` at ${clock(step.time)}. ${meaning(step.step, 'step', 'milestone')}`));
    if (step.step === 'delivered' && args.delivery_receipt_requested) {
      setTimeout(() => receipt(answer, args, steps, signal), receiptMilliseconds);
    }
    if (isEnd(step.step)) tracing.removeEventListener('step', listener);
  };
  const listener = (event) => take(event.detail);
  tracing.recent?.forEach(take);
  tracing.addEventListener('step', listener);
}

/** Shows where the receipt is: it waits for an app server, or one has it. */
async function receipt(answer, args, steps, signal) {
  const item = h('li', {}, h('strong', {}, 'receipt'));
  try {
    const { messages } = await call('messages list', { sender_id: args.sender_id, limit: 1000 }, signal);
    const waits = messages.some((row) => row.kind === 'receipt' && row.message_id.endsWith(answer.message_id));
    const { senders } = await call('senders stats', { sender_id: args.sender_id }, signal);
    const sessions = senders[0]?.sessions ?? 0;
    add(item, waits ? ` is stored, and waits for an app server of the sender; ${plural(sessions, 'session')} of it ${sessions === 1 ? 'is' : 'are'} open.`
      : ' was sent to an app server of the sender, which acknowledged it.');
  } catch (error) {
    add(item, ` cannot be looked up: ${error.message}.`);
  }
  steps.append(item);
}
