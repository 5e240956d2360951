// Light and dark: as the system has it, or as chosen here.
import { h } from './dom.js';

const key = 'ccsd-theme';
const names = { system: 'as the system', light: 'light', dark: 'dark' };

/** Returns what was chosen. A browser without storage follows the system. */
function chosen() {
  try { return localStorage.getItem(key) ?? 'system'; } catch { return 'system'; }
}

/** Applies a theme and keeps the choice. */
function choose(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem(key, theme); } catch { /* The choice ends with this page. */ }
}

/** Applies the choice of the last visit. */
export function applyTheme() {
  document.documentElement.dataset.theme = chosen();
}

/** Creates the switch. */
export function themeSwitch() {
  const options = Object.entries(names).map(([value, text]) => h('option', { value, selected: value === chosen() }, text));
  return h('label', { class: 'theme' }, h('span', {}, 'Colours'),
    h('select', { 'aria-label': 'Colours', on: { change: (event) => choose(event.target.value) } }, options));
}
