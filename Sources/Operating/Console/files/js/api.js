// The operator API: commands by their names in ccsctl, with the arguments of the control socket.
import { operations } from './tables.js';

const byName = new Map(operations.map((operation) => [operation.name, operation]));

/** An error of the API: what is wrong, what to do, the wrong argument and the HTTP status. */
export class Problem extends Error {
  constructor({ detail, hint = '', field = null, status = 0 }) {
    super(detail);
    Object.assign(this, { hint, field, status });
  }
}

/** Returns the definition of a command. */
export function operation(name) {
  const found = byName.get(name);
  if (!found) throw new Error(`unknown operation ${name}`);
  return found;
}

/** Runs a command and returns its answer. */
export async function call(name, args = {}, signal = undefined) {
  const response = await send(requestOf(name, args), signal);
  return response.json();
}

/** Runs a command and passes each event to `receive(name, content)` until it ends; returns its answer. */
export async function follow(name, args, receive, signal = undefined) {
  return events(requestOf(name, args), receive, signal);
}

/** Passes the figures of `top` to `receive` every second until the signal ends it. */
export async function followFigures(receive, signal) {
  return events({ method: 'GET', path: '/operator/v1/top/stream' }, (name, content) => receive(content), signal);
}

/** Returns the request of a command: its path, and its other arguments in the query or the body. */
function requestOf(name, args) {
  const { method, path } = operation(name);
  const rest = Object.fromEntries(Object.entries(args).filter(([, value]) => ![undefined, null, ''].includes(value)));
  const full = path.replace(/\{(\w+)\}/g, (_, field) => {
    const value = rest[field];
    delete rest[field];
    return encodeURIComponent(value ?? '');
  });
  if (method === 'POST') return { method, path: full, body: JSON.stringify(rest) };
  const query = new URLSearchParams(rest).toString();
  return { method, path: query ? `${full}?${query}` : full };
}

async function send({ method, path, body, accept = 'application/json', headers = {} }, signal) {
  const all = { Accept: accept, ...headers };
  if (method !== 'GET') all['X-CCSD-Request'] = 'console';
  if (body !== undefined) all['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, { method, body, headers: all, signal, credentials: 'same-origin', cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem({ detail: 'the server cannot be reached', hint: 'check that ccsd runs, and the network' });
  }
  if (response.ok) return response;
  throw await problemOf(response);
}

async function problemOf(response) {
  const status = response.status;
  const content = await response.json().catch(() => ({ detail: `the server answered ${status}` }));
  const problem = new Problem({ ...content, status });
  if (status === 401) document.dispatchEvent(new CustomEvent('session-ended', { detail: problem }));
  return problem;
}

/** Reads server-sent events. Unlike EventSource, fetch shows the reason of a refusal and ends with the signal. */
async function events(request, receive, signal) {
  const response = await send({ ...request, accept: 'text/event-stream' }, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem({ detail: 'the connection to the server has ended', hint: 'start it again' });
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = eventOf(block);
      if (!event) continue;
      if (event.name === 'result') return event.content;
      if (event.name === 'problem') throw new Problem(event.content);
      receive(event.name, event.content);
    }
  }
}

function eventOf(block) {
  const fields = Object.fromEntries(block.split('\n').map((line) => {
    const at = line.indexOf(':');
    return [line.slice(0, at), line.slice(at + 1).trimStart()];
  }));
  return fields.data === undefined ? null : { name: fields.event ?? 'message', content: JSON.parse(fields.data) };
}

// The session of the browser.

const sessionPath = '/operator/v1/session';

/** Returns the name and role of the operator; throws a problem with status 401 without a session. */
export async function session(signal) {
  return (await send({ method: 'GET', path: sessionPath }, signal)).json();
}

/** Opens a session with an operator's token. The token is not kept: the cookie takes its place. */
export async function openSession(token) {
  const headers = { Authorization: `Bearer ${token}` };
  return (await send({ method: 'POST', path: sessionPath, headers })).json();
}

/** Ends the session. */
export async function closeSession() {
  await send({ method: 'DELETE', path: sessionPath });
}
