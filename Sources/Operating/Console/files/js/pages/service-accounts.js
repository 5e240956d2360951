// The service accounts of a sender. The key pair is made in the browser; the server gets the public half only.
import { call } from '../api.js';
import { h } from '../dom.js';
import { short, time } from '../format.js';
import { forRole } from '../operator.js';
import { ctl } from '../components/command.js';
import { confirm } from '../components/dialog.js';
import { button } from '../components/form.js';
import { act, load, notice } from '../components/notice.js';
import { mono, table } from '../components/table.js';

const algorithm = { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
const tokenAddress = 'https://oauth2.googleapis.com/token';

/** Creates the section. */
export function accounts(id, signal) {
  const list = h('div', {});
  const place = h('div', {});
  const refresh = () => load(list,
    call('service-accounts list', { sender_id: id }, signal),
    (answer) => accountTable(id, answer, refresh),
  );
  const add = button('Create an account and its key file', (event) => act(event.currentTarget, place, async () => {
    const { email } = await create(id);
    await refresh();
    const text = `The key file of ${email} was saved by the browser. Its private key is stored nowhere else.`;
    return notice('good', 'Created', h('p', {}, text));
  }));
  refresh();
  return [
    list,
    h('div', { class: 'row' },
      ctl('service-accounts add', { sender_id: id, public_key: 'made by ccsctl' }),
      forRole('service-accounts add', add)),
    place,
  ];
}

function accountTable(id, { accounts: rows }, refresh) {
  const place = h('div', {});
  const remove = (row) => button('Remove', (event) => act(event.currentTarget, place, async () => {
    const args = { sender_id: id, key_id: row.key_id };
    const text = 'Its access tokens stop working at once.';
    if (!(await confirm('Remove the account?', text, 'Remove', ['service-accounts remove', args]))) return;
    await call('service-accounts remove', args);
    await refresh();
  }), { kind: 'small danger' });
  return [table('Service accounts', [
    { title: 'E-mail', by: (row) => row.email, cell: (row) => row.email },
    { title: 'Key', cell: (row) => mono(short(row.key_id)) },
    { title: 'Added', by: (row) => row.created_at, cell: (row) => time(row.created_at) },
    { title: 'Action', cell: (row) => forRole('service-accounts remove', remove(row)) },
  ], rows, { empty: 'The sender has no service account.' }), place];
}

async function create(id) {
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const [publicKey, privateKey] = await Promise.all([
    crypto.subtle.exportKey('spki', pair.publicKey),
    crypto.subtle.exportKey('pkcs8', pair.privateKey),
  ]);
  const added = await call('service-accounts add', { sender_id: id, public_key: base64(publicKey) });
  save(`${added.email}.json`, keyFile(added, privateKey));
  return added;
}

/** The content of a key file, as ccsctl writes it. */
function keyFile(account, privateKey) {
  const lines = base64(privateKey).match(/.{1,64}/g).join('\n');
  return JSON.stringify({
    type: 'service_account', project_id: account.project, private_key_id: account.key_id,
    private_key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    client_email: account.email, client_id: account.sender_id,
    auth_uri: 'https://accounts.google.com/o/oauth2/auth', token_uri: tokenAddress,
    auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
    client_x509_cert_url: `https://www.googleapis.com/robot/v1/metadata/x509/${encodeURIComponent(account.email)}`,
    universe_domain: 'googleapis.com',
  }, null, 2);
}

function base64(buffer) {
  return btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''));
}

function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
