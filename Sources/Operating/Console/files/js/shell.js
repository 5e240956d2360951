// The frame around the pages: navigation, operator, state of the server.
import { closeSession } from './api.js';
import { h, fill } from './dom.js';
import { figures } from './figures.js';
import { operator } from './operator.js';
import { go, link } from './router.js';
import { showHelp } from './shortcuts.js';
import { testClockBanner } from './test-clock.js';
import { themeSwitch } from './theme.js';
import { button, form } from './components/form.js';

const places = [
  ['overview', 'Overview'], ['messages', 'Messages'], ['senders', 'Senders'], ['topics', 'Topics and groups'],
  ['devices', 'Devices'], ['apns', 'APNs'], ['operations', 'Operations'],
];
/** Only on a server with the test bench. */
const benchPlaces = [['inbox', 'Inbox']];

/** Fills the frame, and returns the place of the pages. `loggedOut` is called after the session has ended. */
export function showShell(root, loggedOut) {
  const main = h('main', { id: 'main', tabindex: '-1' });
  const links = h('ul', { id: 'places' },
    [...places, ...(operator().test_bench ? benchPlaces : [])].map(([path, title]) => h('li', {}, h('a', { href: link([path]), data: { place: path } }, title))),
  );
  const menu = button('Menu', () => {
    const isOpen = links.classList.toggle('open');
    menu.setAttribute('aria-expanded', String(isOpen));
  }, { kind: 'menu', 'aria-expanded': 'false', 'aria-controls': 'places' });
  links.addEventListener('click', () => {
    links.classList.remove('open');
    menu.setAttribute('aria-expanded', 'false');
  });
  const logout = button('Log out', async () => {
    await closeSession().catch(() => {});
    loggedOut();
  }, { kind: 'small plain' });
  fill(root,
    h('header', { class: 'top' }, h('a', { class: 'brand', href: link(['overview']) }, 'ccsd'), menu, search(), serverState()),
    testClockBanner(),
    h('nav', { class: 'side', 'aria-label': 'Pages' }, links,
      h('div', { class: 'side-end' }, h('p', { class: 'who' }, h('strong', {}, operator().name), ` ${operator().role}`),
        h('div', { class: 'buttons' }, logout, button('Keys', showHelp, { kind: 'small plain' })), themeSwitch())),
    main);
  return main;
}

/** The search on every page: what is pasted there is looked up. */
function search() {
  const field = h('input', {
    type: 'search', name: 'target', id: 'search', autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'search',
    'aria-label': 'Search', placeholder: 'Message ID, token, device, sender, topic, address…',
  });
  const find = form(({ target }) => target && go(['messages', target]), field);
  find.className = 'find';
  find.setAttribute('role', 'search');
  return find;
}

/** Shows in the search what the page is about. */
export function markSearch(text) {
  document.getElementById('search').value = text;
}

/** Marks the page in the navigation. */
export function markPlace(place) {
  for (const anchor of document.querySelectorAll('[data-place]')) {
    if (anchor.dataset.place === place) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
}

/** The state of the server, from the live figures. */
function serverState() {
  const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
  const text = h('span', {}, 'connecting');
  const show = () => {
    const state = figures.problem ? 'unreachable' : figures.latest?.state ?? 'connecting';
    dot.className = `dot ${state}`;
    if (text.textContent !== state) text.textContent = state;
  };
  figures.addEventListener('change', show);
  show();
  return h('p', { class: 'state', role: 'status', 'aria-label': 'State of the server' }, dot, text);
}
