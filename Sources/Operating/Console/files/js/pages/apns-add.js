// The form for a new credential for APNs.
import { call } from '../api.js';
import { h, fill, freshID } from '../dom.js';
import { words } from '../format.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { choiceField, form, textField } from '../components/form.js';
import { act, notice } from '../components/notice.js';

/** The name that Apple gives the file of a key, which has its ID. */
const keyFileName = /^AuthKey_([A-Z0-9]{10})\.p8$/;

/** Creates the form; `done` is called after a credential was added. */
export function credentialForm(done) {
  const place = h('div', {});
  const command = h('div', {}, ctl('apns add', { file: 'FILE' }));
  const submit = (values, pressed) => act(pressed, place, async () => {
    const args = {
      ...values,
      file: values.file && await base64(values.file),
      private_key: values.private_key && await base64(values.private_key),
    };
    args.key_id ??= values.file?.name.match(keyFileName)?.[1];
    fill(command, ctl('apns add', args));
    const added = await call('apns add', args);
    await done();
    return h('div', {}, testBox(added.credential, added), added.warnings.map((text) => h('p', {}, text)));
  });
  return form(submit, h('div', { class: 'grid' },
    fileField('File', 'file',
      'A .p12 archive, a certificate, or a .p8 key.',
    ), fileField('Private key', 'private_key', 'If the file does not contain it.'),
    textField('Password', 'password', { type: 'password', autocomplete: 'off', help: 'Of the archive or key.' }),
    textField('Key ID', 'key_id',
      { help: 'Of a .p8 key; empty if the file is named AuthKey_KEY_ID.p8.' },
    ), textField('Team ID', 'team_id', { help: 'Of a .p8 key.' }),
    textField('Bundle ID', 'bundle_id',
      { help: 'The only app of a .p8 key. Empty: all of the team.' },
    ), textField('Sender ID', 'sender_id', { inputmode: 'numeric', help: 'Empty: all senders.' }),
    choiceField('Environment', 'environment',
      [['', 'all that it allows'], ['production', 'production'], ['sandbox', 'sandbox']],
    )),
  h('div', { class: 'buttons' },
    forRole('apns add', h('button', { type: 'submit', class: 'primary' }, 'Add and test')),
  ), place, command);
}

function fileField(label, name, help) {
  const id = freshID('file');
  return h('div', { class: 'field' },
    h('label', { for: id }, label),
    h('input', { id, name, type: 'file', 'aria-describedby': `${id}-help` }),
    h('p', { class: 'help', id: `${id}-help` }, help),
  );
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Creates the box with the results of a test at Apple. */
export function testBox(row, { tests }) {
  const isGood = tests.length > 0 && tests.every((test) => test.result === 'accepted');
  return notice(isGood ? 'good' : 'warn', `Test of ${row.credential}`,
    h('ul', {},
      tests.map((test) => h('li', {}, `${test.environment}: ${words(test.result)}. ${test.detail}`)),
    ), ctl('apns test', { credential: row.credential }));
}
