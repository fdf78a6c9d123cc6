import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './commands.ts';

let plane: TestControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

test('keys: a key is shown once, listed without its secret, and can be revoked', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const created = await client.post('/keys', { name: 'ci', scopes: ['destination:list'], expiresAt });
  expect(created.status).toBe(200);
  expect(created.body.key).toMatch(/^slk_[A-Za-z0-9]{12}_[A-Za-z0-9]{43}$/);
  expect(created.body).toMatchObject({ name: 'ci', scopes: ['destination:list'], expiresAt, revokedAt: null });
  const { key, ...shown } = created.body;
  const listed = await client.get('/keys');
  expect(listed.body.entities[0]).toEqual(shown);
  expect(JSON.stringify(listed.body)).not.toContain(key.split('_')[2]);
  const revoked = await client.delete(`/keys/${shown.id}`);
  expect(revoked.body.revokedAt).not.toBeNull();
  // Revoking a key again changes nothing.
  expect((await client.delete(`/keys/${shown.id}`)).body).toEqual(revoked.body);
});

test.each([
  [{ scopes: ['all'] }, /name is required/],
  [{ name: 'x' }, /scopes is required/],
  [{ name: 'x', scopes: [] }, /scopes must be an array of 1 to/],
  [{ name: 'x', scopes: ['destination:lick'] }, /scopes\[0\] must be one of all/],
  [{ name: 'x', scopes: ['all'], expiresAt: 'tomorrow' }, /expiresAt must be/],
  [{ name: 'x', scopes: ['all'], expiresAt: '2030-06-30T23:59:60Z' }, /expiresAt must be a time/],
  [{ name: 'x', scopes: ['all'], expiresAt: '2001-01-01T00:00:00Z' }, /expiresAt must be in the future/],
  [{ name: 'x', scopes: ['all'], key: 'mine' }, /key is not a known field/],
])('keys: create refuses %j', async (body, message) => {
  const answer = await client.post('/keys', body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)]);
});

test('keys: a key cannot create a key with more rights', async () => {
  const limited = await plane.newKey(client, ['key:create', 'source:list']);
  expect((await limited.post('/keys', { name: 'x', scopes: ['source:list'] })).status).toBe(200);
  for (const scopes of [['all'], ['source:list', 'source:create']]) {
    expect((await limited.post('/keys', { name: 'x', scopes })).status).toBe(403);
  }
});

test('keys: a key cannot create a key that stays valid longer', async () => {
  const ends = new Date(Date.now() + 3_600_000);
  const limited = await plane.newKey(client, ['key:create', 'source:list'], ends);
  const make = (expiresAt?: string | null) =>
    limited.post('/keys', { name: 'x', scopes: ['source:list'], ...(expiresAt === undefined ? {} : { expiresAt }) });
  for (const beyond of [undefined, null, new Date(ends.getTime() + 1).toISOString()]) {
    const answer = await make(beyond);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      `expiresAt is required, at most ${ends.toISOString()}: the key that creates this key expires then`,
    ]);
  }
  expect((await make(ends.toISOString())).body).toMatchObject({ expiresAt: ends.toISOString() });
});

test('command line: creates, lists and revokes keys', async () => {
  const context = { storage: plane.storage, now: new Date() };
  const options = { name: 'cli', scopes: 'destination:list, version:publish', expires: '90d', newAccount: 'Cli' };
  const { text: key } = await createKeyCommand(context, options);
  const answer = await client.call('GET', '/destinations', { headers: { authorization: `Bearer ${key}` } });
  expect(answer).toMatchObject({ status: 200, body: { entities: [] } });
  const { account_id: account } = (
    await plane.storage.fork().execute<{ account_id: string }[]>(`select account_id from api_keys where name = 'cli'`)
  )[0] ?? { account_id: '' };
  // The account can be given by name or by id.
  const { text, value } = await listKeysCommand(context, 'cli');
  expect(value).toMatchObject([{ name: 'cli', isValid: true, scopes: ['destination:list', 'version:publish'] }]);
  expect(text).toMatch(/^slk_\w{12}\tcli\tvalid, expires \d{4}-.*\tdestination:list,version:publish$/);
  await revokeKeyCommand(context, key, account);
  expect((await listKeysCommand({ ...context, now: new Date() }, account)).text).toMatch(/\tended\t/);
  expect((await client.call('GET', '/destinations', { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
});

test('command line: an error says what is wrong', async () => {
  const context = { storage: plane.storage, now: new Date() };
  const make = (options: object) => createKeyCommand(context, { name: 'x', scopes: 'all', ...options });
  await expect(make({ scopes: 'all,nope' })).rejects.toThrow('nope is not a scope; npm run keys -- scopes lists them');
  await expect(make({ scopes: 'destination:lst' })).rejects.toThrow('did you mean destination:list?');
  await make({ newAccount: 'Second' });
  await expect(make({ account: 'Secnd' })).rejects.toThrow('there is no account Secnd; did you mean Second?');
  await expect(make({ expires: 'soon' })).rejects.toThrow('--expires');
  await expect(make({ account: 'missing' })).rejects.toThrow('there is no account missing');
  // If there are several accounts, one must be named.
  await expect(make({})).rejects.toThrow('--account');
  await expect(revokeKeyCommand(context, 'slk_none_x', client.accountId)).rejects.toThrow(/no key slk_none$/);
});
