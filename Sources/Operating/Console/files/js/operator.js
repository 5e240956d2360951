// The operator who is logged in, and what the role permits.
import { operation } from './api.js';

let current = null;

/** Sets the operator; null if none is logged in. */
export function setOperator(session) {
  current = session;
}

/** The operator: name and role. */
export function operator() {
  return current;
}

/** Whether the role permits a command. */
export function mayRun(name) {
  return operation(name).role === 'viewer' || current?.role === 'operator';
}

/** Disables a button, with the reason, if the role does not permit a command. */
export function forRole(name, button) {
  if (mayRun(name)) return button;
  button.disabled = true;
  button.title = `needs the role ${operation(name).role}`;
  return button;
}
