// The login with an operator's token.
import { openSession } from '../api.js';
import { h } from '../dom.js';
import { form, textField } from '../components/form.js';
import { act } from '../components/notice.js';
import { themeSwitch } from '../theme.js';

/** Creates the page; `done` gets the session, and `reason` is a box about the end of the last one. */
export function login(done, reason) {
  const place = h('div', {});
  const submit = (values, button) => act(button, place, async () => done(await openSession(values.token ?? '')));
  return h('main', { id: 'main', tabindex: '-1', class: 'login' },
    h('h1', {}, 'ccsd console'),
    reason,
    form(submit,
      textField('Operator token', 'token',
        {
          type: 'password',
          autocomplete: 'current-password',
          required: true,
          help: 'It begins with ccso_ and is shown once, when the operator is added.',
        },
      ),
      h('button', { type: 'submit', class: 'primary' }, 'Log in')),
    place,
    h('p', { class: 'quiet' }, 'On the server, this adds an operator and prints a token:'),
    h('code', { class: 'block' }, 'ccsctl operators add NAME --role operator'),
    themeSwitch());
}
