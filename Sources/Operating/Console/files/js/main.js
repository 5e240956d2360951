// Starts the console: the session first, then the page of the address.
import { session } from './api.js';
import { directionControls, fill, h } from './dom.js';
import { figures } from './figures.js';
import { setOperator } from './operator.js';
import { address } from './router.js';
import { markPlace, markSearch, showShell } from './shell.js';
import { startShortcuts } from './shortcuts.js';
import { applyTheme } from './theme.js';
import { notice, problemBox, sentence } from './components/notice.js';
import { apns } from './pages/apns.js';
import { devices } from './pages/devices.js';
import { inbox } from './pages/inbox.js';
import { login } from './pages/login.js';
import { messages } from './pages/messages.js';
import { operations } from './pages/operations.js';
import { overview } from './pages/overview.js';
import { sender } from './pages/sender.js';
import { senders } from './pages/senders.js';
import { topics } from './pages/topics.js';

/** A page gets `{ segments, query, signal }` and returns its content; the signal ends what it has started. */
const pages = {
  overview: { title: 'Overview', show: overview },
  messages: { title: 'Messages', show: messages },
  senders: { title: 'Senders', show: (context) => (context.segments[1] ? sender(context) : senders(context)) },
  topics: { title: 'Topics and groups', show: topics },
  devices: { title: 'Devices', show: devices },
  apns: { title: 'APNs', show: apns },
  inbox: { title: 'Inbox', show: inbox },
  operations: { title: 'Operations', show: operations },
};

const shell = document.getElementById('shell');
let main = null;
let leaving = new AbortController();

/** Shows the page of the address. */
function show(isFirst = false) {
  leaving.abort();
  leaving = new AbortController();
  const { segments, query } = address();
  const name = segments[0] ?? 'overview';
  const page = Object.hasOwn(pages, name) ? pages[name] : undefined;
  const title = page?.title ?? 'No such page';
  const heading = h('h1', { tabindex: '-1' }, title);
  document.title = `${[title, ...segments.slice(1)].join(' · ').replace(directionControls, '')} – ccsd`;
  markPlace(page ? name : null);
  markSearch(name === 'messages' ? segments[1] ?? '' : '');
  try {
    fill(main, heading, page ? page.show({ segments, query, signal: leaving.signal })
      : h('p', {}, 'The address names no page of the console. Choose one in the navigation.'));
  } catch (error) {
    fill(main, heading, problemBox(error));
    throw error;
  }
  if (!isFirst && (document.activeElement === main || !main.contains(document.activeElement))) heading.focus();
}

/** Shows the login, with the reason if a session has ended. */
function logIn(reason = null) {
  leaving.abort();
  figures.end();
  setOperator(null);
  main = null;
  document.title = 'Log in – ccsd';
  fill(shell, login((opened) => begin(opened), reason));
  shell.querySelector('input')?.focus();
}

/** Creates the box with the reason why the server no longer accepts the session. */
function endBox(problem) {
  return notice('warn', 'You were logged out', h('p', {}, sentence(problem.message)),
    h('p', {}, 'A session ends after half an hour without use, after twelve hours, when the server restarts, and when the operator is removed. The page of the address is shown after the login.'));
}

function begin(opened) {
  setOperator(opened);
  main = showShell(shell, () => logIn(notice('good', 'Logged out', h('p', {}, 'Your session has ended.'))));
  figures.start();
  show(true);
}

applyTheme();
startShortcuts();
window.addEventListener('hashchange', () => main && show());
document.addEventListener('session-ended', ({ detail: problem }) => main && logIn(endBox(problem)));
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
});
try {
  begin(await session());
} catch (error) {
  logIn();
  if (error.status !== 401) shell.append(problemBox(error));
}
