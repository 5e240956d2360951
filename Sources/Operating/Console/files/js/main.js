// Starts the console: the session first, then the page of the address.
import { Problem, session } from './api.js';
import { directionControls, fill, h } from './dom.js';
import { figures } from './figures.js';
import { setOperator } from './operator.js';
import { address } from './router.js';
import { markPlace, markSearch, showShell } from './shell.js';
import { startShortcuts } from './shortcuts.js';
import { applyTheme } from './theme.js';
import { load, notice, problemBox, sentence } from './components/notice.js';
import { login } from './pages/login.js';
import { overview } from './pages/overview.js';

/** The titles of the pages. */
const titles = {
  overview: 'Overview', messages: 'Messages', senders: 'Senders', topics: 'Topics and groups', devices: 'Devices', apns: 'APNs', inbox: 'Inbox',
  operations: 'Operations',
};

/** All pages but the first one are loaded when one of them is shown: the first one is fast. */
const others = () => import('./pages.js');

/** A page gets `{ segments, query, signal }` and returns its content; the signal ends what it has started. */
function contentOf(name, context) {
  if (name === 'overview') return overview(context);
  const place = h('div', {});
  load(place, others().catch(() => {
    throw new Problem({ detail: 'the page cannot be loaded', hint: 'reload the console: the server cannot be reached, or is a newer one' });
  }), ({ pages }) => (context.signal.aborted ? null : pages[name](context)));
  return place;
}

const shell = document.getElementById('shell');
let main = null;
let leaving = new AbortController();

/** Shows the page of the address. */
function show(isFirst = false) {
  leaving.abort();
  leaving = new AbortController();
  const { segments, query } = address();
  const name = segments[0] ?? 'overview';
  const isPage = Object.hasOwn(titles, name);
  const title = isPage ? titles[name] : 'No such page';
  const heading = h('h1', { tabindex: '-1' }, title);
  document.title = `${[title, ...segments.slice(1)].join(' · ').replace(directionControls, '')} – ccsd`;
  markPlace(isPage ? name : null);
  markSearch(name === 'messages' ? segments[1] ?? '' : '');
  try {
    fill(main, heading, isPage ? contentOf(name, { segments, query, signal: leaving.signal })
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
// Another page is requested beside the session.
if (address().segments[0] in titles && address().segments[0] !== 'overview') others().catch(() => {});
try {
  begin(await session());
} catch (error) {
  logIn();
  if (error.status !== 401) shell.append(problemBox(error));
}
