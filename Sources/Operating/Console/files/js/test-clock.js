// The banner of a server whose time was, or can be, moved forward.
import { h, fill } from './dom.js';
import { figures } from './figures.js';
import { setAhead, span, time } from './format.js';
import { link } from './router.js';

/** Creates the banner; it follows the live figures. */
export function testClockBanner() {
  const banner = h('aside', { class: 'test-clock', 'aria-label': 'Test clock', hidden: true });
  let shown = '';
  const show = () => {
    const clock = figures.latest?.test_clock;
    if (!clock) return;
    setAhead(clock.advanced_seconds);
    // To the minute, so that it can be read and pressed.
    const text = `${clock.advanced_seconds} ${time(clock.time).slice(0, -3)}`;
    if (text === shown) return;
    shown = text;
    banner.hidden = false;
    fill(banner, h('strong', {}, 'Test clock'), clock.advanced_seconds > 0
      ? ` The server is ${span(clock.advanced_seconds)} ahead of the machine: ${time(clock.time).slice(0, -3)}. `
      : ' The time of this server can be moved forward. ',
    h('a', { href: link(['operations']) }, 'Move it'));
  };
  figures.addEventListener('change', show);
  show();
  return banner;
}
