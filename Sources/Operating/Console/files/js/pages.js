// The pages that are loaded when one of them is first shown.
import { apns } from './pages/apns.js';
import { devices } from './pages/devices.js';
import { inbox } from './pages/inbox.js';
import { messages } from './pages/messages.js';
import { operations } from './pages/operations.js';
import { sender } from './pages/sender.js';
import { senders } from './pages/senders.js';
import { topics } from './pages/topics.js';

/** The pages by their names in addresses. */
export const pages = {
  messages, topics, devices, apns, inbox, operations, senders: (context) => (context.segments[1] ? sender(context) : senders(context)),
};
