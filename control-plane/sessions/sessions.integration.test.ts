import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { AnotherControlPlane, TestControlPlane } from '../testing/test-control-plane.ts';
import { signInLinkCommand } from '../users/commands.ts';
import { sessionsOfHolderMax } from './live-sessions.ts';
import { sessionAccountsMax } from './session-cookie.ts';

let plane: TestControlPlane;
let other: AnotherControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.startAnother();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

type Sent = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };
type Session = { readonly accounts: readonly { readonly accountId: string; readonly scopes: readonly string[] }[] };

const fromConsole = { 'x-sluice-console': '1' };

function send(method: string, path: string, { body, headers }: Sent = {}): Promise<Response> {
  return fetch(`${plane.baseUrl}/rest/v1${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const signIn = (key: string, headers = {}): Promise<Response> =>
  send('POST', '/session', { body: { key }, headers: { ...fromConsole, ...headers } });

const cookieOf = (answer: Response): string => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

test('session: the key is replaced by a cookie that does not contain it, that no script can read and no other site can send', async () => {
  const answer = await signIn(client.key);
  expect(answer.status).toBe(200);
  const header = answer.headers.get('set-cookie') ?? '';
  expect(header).toMatch(/^sluice_session=/);
  expect(header.split('; ')).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Strict', 'Path=/rest/v1']));
  expect(header).not.toContain(client.key);
  expect(header).not.toContain('Secure');
  const { accounts } = (await answer.json()) as Session;
  expect(accounts).toMatchObject([{ accountId: client.accountId, scopes: ['all'] }]);
});

test('session: a page loaded over TLS gets a cookie that is sent only over TLS', async () => {
  const answer = await signIn(client.key, { origin: 'https://console.example.com' });
  expect(answer.headers.get('set-cookie')).toContain('Secure');
});

test('session: the cookie is accepted only with the header that names its account', async () => {
  const cookie = cookieOf(await signIn(client.key));
  const withCookie = (headers: Readonly<Record<string, string>>): Promise<Response> =>
    send('GET', '/destinations', { headers: { cookie, ...headers } });
  expect((await withCookie({})).status).toBe(401);
  expect((await withCookie({ 'x-sluice-account': client.accountId })).status).toBe(200);
  expect((await withCookie({ 'x-sluice-account': (await plane.newAccount()).accountId })).status).toBe(401);
  const changed = `${cookie.slice(0, -2)}AA`;
  expect((await withCookie({ cookie: changed, 'x-sluice-account': client.accountId })).status).toBe(401);
});

test('session: a page that shows another key or user than the one signed in now is refused', async () => {
  const cookie = cookieOf(await signIn(client.key));
  const next = await plane.newKey(client, ['all']);
  const after = cookieOf(await signIn(next.key, { cookie }));
  const showing = (holder: string, path = '/destinations'): Promise<Response> =>
    send('GET', path, {
      headers: { cookie: after, 'x-sluice-account': client.accountId, 'x-sluice-holder': holder },
    });
  expect((await showing(next.keyId)).status).toBe(200);
  expect((await showing(client.keyId)).status).toBe(401);
  expect((await showing(client.keyId, '/activity/stream')).status).toBe(401);
});

test('session: a page that shows another key or user than the one signed in now ends no session', async () => {
  const next = await plane.newKey(client, ['all']);
  const [cookie, elsewhere] = [cookieOf(await signIn(next.key)), cookieOf(await signIn(next.key))];
  const leave = (holder: string, query = ''): Promise<Response> =>
    send('DELETE', `/session/${client.accountId}${query}`, {
      headers: { ...fromConsole, cookie, 'x-sluice-account': client.accountId, 'x-sluice-holder': holder },
    });
  for (const query of ['', '?everywhere=true']) {
    const refused = await leave(client.keyId, query);
    expect(await refused.json()).toMatchObject({ accounts: [{ accountId: client.accountId, keyId: next.keyId }] });
    expect(await worksFor(cookieOf(refused), client.accountId)).toEqual([true, true]);
    for (const one of [cookie, elsewhere]) expect(await worksFor(one, client.accountId)).toEqual([true, true]);
  }
  expect(await (await leave(next.keyId)).json()).toMatchObject({ accounts: [] });
  expect(await worksFor(cookie, client.accountId)).toEqual([false, false]);
});

test('session: without the header of the console there is no sign-in or sign-out', async () => {
  const forged = await send('POST', '/session', { body: { key: client.key } });
  expect(forged.status).toBe(403);
  expect(forged.headers.get('set-cookie')).toBeNull();
  expect((await send('DELETE', `/session/${client.accountId}`)).status).toBe(403);
});

test('session: holds several accounts, and loses an account that signs out or whose key is revoked', async () => {
  const other = await plane.newAccount(['destination:list']);
  const third = await plane.newAccount();
  const first = cookieOf(await signIn(client.key));
  const second = cookieOf(await signIn(other.key, { cookie: first }));
  const all = await signIn(third.key, { cookie: second });
  const cookie = cookieOf(all);
  expect(((await all.json()) as Session).accounts.map(({ accountId }) => accountId)).toEqual([
    client.accountId,
    other.accountId,
    third.accountId,
  ]);
  const asOther = { cookie, 'x-sluice-account': other.accountId };
  expect((await send('GET', '/destinations', { headers: asOther })).status).toBe(200);
  expect((await send('GET', '/keys', { headers: asOther })).status).toBe(403);
  const out = await send('DELETE', `/session/${client.accountId}`, { headers: { ...fromConsole, cookie } });
  expect(((await out.json()) as Session).accounts).toHaveLength(2);
  await third.delete(`/keys/${third.keyId}`);
  const left = await send('GET', '/session', { headers: { ...fromConsole, cookie: cookieOf(out) } });
  expect(((await left.json()) as Session).accounts).toMatchObject([{ accountId: other.accountId }]);
});

/** Whether each of the two control planes still accepts a cookie for an account. */
async function worksFor(cookie: string, accountId: string): Promise<readonly boolean[]> {
  const headers = { cookie, 'x-sluice-account': accountId };
  const answers = [plane, other].map(({ baseUrl }) => fetch(`${baseUrl}/rest/v1/destinations`, { headers }));
  return (await Promise.all(answers)).map(({ status }) => status === 200);
}

const signOut = (accountId: string, cookie: string): Promise<Response> =>
  send('DELETE', `/session/${accountId}`, { headers: { ...fromConsole, cookie } });

test('session: a sign-out ends the session in every control plane, even for a copied cookie', async () => {
  const cookie = cookieOf(await signIn(client.key));
  const elsewhere = cookieOf(await signIn(client.key));
  expect(await worksFor(cookie, client.accountId)).toEqual([true, true]);
  await signOut(client.accountId, cookie);
  expect(await worksFor(cookie, client.accountId)).toEqual([false, false]);
  expect(await worksFor(elsewhere, client.accountId)).toEqual([true, true]);
  const listed = await send('GET', '/session', { headers: { ...fromConsole, cookie } });
  expect(await listed.json()).toEqual({ accounts: [], singleSignOn: null });
  // Signing in to another account with the old cookie does not restore the ended session.
  const third = await plane.newAccount();
  const later = cookieOf(await signIn(third.key, { cookie }));
  expect(await worksFor(later, client.accountId)).toEqual([false, false]);
  expect(await worksFor(later, third.accountId)).toEqual([true, true]);
});

test('session: a sign-out everywhere ends all sessions of the same key, and no others', async () => {
  const another = await plane.newKey(client, ['all']);
  const [first, second, kept] = [
    cookieOf(await signIn(client.key)),
    cookieOf(await signIn(client.key)),
    cookieOf(await signIn(another.key)),
  ];
  const end = (query: string): Promise<Response> =>
    send('DELETE', `/session/${client.accountId}${query}`, { headers: { ...fromConsole, cookie: first } });
  expect((await end('?everywhere=yes')).status).toBe(400);
  expect((await end('?everywhere=true')).status).toBe(200);
  for (const cookie of [first, second]) expect(await worksFor(cookie, client.accountId)).toEqual([false, false]);
  expect(await worksFor(kept, client.accountId)).toEqual([true, true]);
  // An ended session's cookie cannot end other sessions.
  await end('?everywhere=true');
  expect(await worksFor(kept, client.accountId)).toEqual([true, true]);
});

test('session: signing out of an account ends all its cookies, including older ones, but signs no other account out', async () => {
  const second = await plane.newAccount();
  const alone = cookieOf(await signIn(client.key));
  const both = cookieOf(await signIn(second.key, { cookie: alone }));
  const rest = cookieOf(await signOut(client.accountId, both));
  for (const cookie of [alone, both, rest]) {
    expect(await worksFor(cookie, client.accountId)).toEqual([false, false]);
  }
  for (const cookie of [both, rest]) expect(await worksFor(cookie, second.accountId)).toEqual([true, true]);
});

test('session: signing in again with another key ends the earlier sign-in', async () => {
  const before = cookieOf(await signIn(client.key));
  const key = await plane.newKey(client, ['destination:list']);
  const after = cookieOf(await signIn(key.key, { cookie: before }));
  expect(await worksFor(before, client.accountId)).toEqual([false, false]);
  expect(await worksFor(after, client.accountId)).toEqual([true, true]);
});

test('session: ends at its expiry, whatever the browser does', async () => {
  const cookie = cookieOf(await signIn(client.key));
  await plane.storage.fork().execute(`update sessions set expires_at = now() where account_id = ?`, [client.accountId]);
  expect(await worksFor(cookie, client.accountId)).toEqual([false, false]);
});

test('session: a key has a limited number of sessions, and expired sessions are not kept', async () => {
  const third = await plane.newAccount();
  const count = async (): Promise<number> => {
    const [row] = await plane.storage
      .fork()
      .execute<{ count: string }[]>('select count(*) from sessions where key_id = ?', [third.keyId]);
    return Number(row?.count);
  };
  const fill = (expiresAt: string) =>
    plane.storage.fork().execute(
      `insert into sessions (id, account_id, key_id, expires_at)
       select gen_random_uuid(), ?, ?, ${expiresAt} from generate_series(1, ?)`,
      [third.accountId, third.keyId, sessionsOfHolderMax + 5],
    );
  await fill(`now() - interval '1 second'`);
  const cookie = cookieOf(await signIn(third.key));
  expect(await count()).toBe(1);
  await fill(`now() + interval '1 minute'`);
  await signIn(third.key);
  expect(await count()).toBe(sessionsOfHolderMax);
  // Sessions that expire first are removed to make room.
  expect(await worksFor(cookie, third.accountId)).toEqual([true, true]);
});

test('session: an invalid key is refused, and the error for an invalid body names the field', async () => {
  expect((await signIn('slk_nothing')).status).toBe(401);
  const malformed = await send('POST', '/session', { body: { key: 5 }, headers: fromConsole });
  expect(malformed.status).toBe(400);
  expect(((await malformed.json()) as { error: string }).error).toContain('key');
});

test('sign-in link: signs in once, to the account of its key, and is recorded', async () => {
  const { body, status } = await client.post('/sign-in-links', { key: client.key });
  expect(status).toBe(200);
  const redeem = (): Promise<Response> =>
    send('POST', '/session/redeem', { body: { code: body.code }, headers: fromConsole });
  const redeemed = await redeem();
  expect(((await redeemed.json()) as Session).accounts).toMatchObject([{ accountId: client.accountId }]);
  expect(cookieOf(redeemed)).not.toBe('');
  const again = await redeem();
  expect(again.status).toBe(401);
  expect(again.headers.get('set-cookie')).toBeNull();
  const { body: audit } = await client.get('/audit');
  const actions = audit.entities.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(['session.link', 'session.create']));
});

test('sign-in link: works only for a key of the account, for a caller that may create keys, and until the link expires', async () => {
  const other = await plane.newAccount();
  expect((await client.post('/sign-in-links', { key: other.key })).status).toBe(400);
  const reader = await plane.newKey(client, ['destination:list']);
  expect((await reader.post('/sign-in-links', { key: client.key })).status).toBe(403);
  const { body } = await client.post('/sign-in-links', { key: client.key });
  await plane.storage
    .fork()
    .execute(`update sign_in_links set expires_at = now() - interval '1 second' where account_id = ?`, [
      client.accountId,
    ]);
  const late = await send('POST', '/session/redeem', { body: { code: body.code }, headers: fromConsole });
  expect(late.status).toBe(401);
});

test('sign-in link: a browser that is signed in to the maximum of accounts is refused, and the link still works', async () => {
  let cookie = '';
  for (let count = 0; count < sessionAccountsMax; count += 1)
    cookie = cookieOf(await signIn((await plane.newAccount()).key, { cookie }));
  const { body } = await client.post('/sign-in-links', { key: client.key });
  const redeem = async (headers: object): Promise<number> =>
    (await send('POST', '/session/redeem', { body: { code: body.code }, headers: { ...fromConsole, ...headers } }))
      .status;
  expect([await redeem({ cookie }), await redeem({}), await redeem({})]).toEqual([400, 200, 401]);
});

type User = { readonly id: string; readonly cookie: string; readonly email: string };

/** Invites a person and accepts the invitation. */
async function invite(by: Client, role: string, email = `${role}@example.com`): Promise<User> {
  const { body: user } = await by.post('/users', { email, role });
  const { body: link } = await by.post('/sign-in-links', { userId: user.id });
  const redeemed = await send('POST', '/session/redeem', { body: { code: link.code }, headers: fromConsole });
  expect(redeemed.status).toBe(200);
  return { id: user.id as string, cookie: cookieOf(redeemed), email };
}

/** A request of a signed-in user. */
async function as({ cookie }: User, { accountId }: Client, method: string, path: string, body?: unknown) {
  const headers = { ...fromConsole, cookie, 'x-sluice-account': accountId };
  const answer = await send(method, path, { headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('sign-in link: a change of its user’s role deletes it, so that it never gives another role than when it was made', async () => {
  const owner = await plane.newAccount();
  const { body: user } = await owner.post('/users', { email: 'later-admin@example.com', role: 'viewer' });
  const link = async (): Promise<string> =>
    (await owner.post('/sign-in-links', { userId: user.id })).body.code as string;
  const redeem = async (code: string): Promise<number> =>
    (await send('POST', '/session/redeem', { body: { code }, headers: fromConsole })).status;
  const [kept, before] = [await link(), await link()];
  expect((await owner.patch(`/users/${user.id}`, { role: 'viewer' })).status).toBe(200);
  expect(await redeem(kept)).toBe(200);
  expect((await owner.patch(`/users/${user.id}`, { role: 'admin' })).status).toBe(200);
  expect([await redeem(before), await redeem(await link())]).toEqual([401, 200]);
});

test('user: an invitation signs in once, with the scopes of the role, and the audit trail has the address for each action', async () => {
  const owner = await plane.newAccount();
  const editor = await invite(owner, 'editor', ' Ed@Example.com ');
  const { body: me } = await as(editor, owner, 'GET', '/me');
  expect(me).toMatchObject({ keyId: null, user: { id: editor.id, email: 'ed@example.com', role: 'editor' } });
  const source = await as(editor, owner, 'POST', '/sources', { type: 'NodejsApi' });
  expect(source.status).toBe(200);
  expect((await as(editor, owner, 'POST', '/versions', {})).status).toBe(200);
  expect((await as(editor, owner, 'GET', '/users')).body).toEqual({ error: 'your role lacks the scope user:list' });
  expect((await owner.post('/users', { email: 'ED@example.com', role: 'viewer' })).status).toBe(409);
  const { body: audit } = await owner.get(`/audit?actorId=${editor.id}`);
  const by = { actorKind: 'user', actorName: 'ed@example.com' };
  expect(audit.entities).toMatchObject([
    { ...by, action: 'version.create' },
    { ...by, action: 'source.create', entityId: source.body['id'] },
    { ...by, action: 'session.create' },
  ]);
  const { body: users } = await owner.get('/users');
  expect(users.entities).toMatchObject([{ email: 'ed@example.com', sessions: 1, signedInAt: expect.any(String) }]);
  const { body: all } = await owner.get('/audit');
  expect(all.entities.find(({ action }: { action: string }) => action === 'user.create')).toMatchObject({
    actorKind: 'key',
    actorId: owner.keyId,
    entityId: editor.id,
  });
});

test('user: an account keeps its last admin, even when two admins remove each other at once', async () => {
  const owner = await plane.newAccount();
  const [ann, bob] = [await invite(owner, 'admin', 'ann@example.com'), await invite(owner, 'admin', 'bob@example.com')];
  const answers = await Promise.all([
    as(ann, owner, 'PATCH', `/users/${bob.id}`, { role: 'viewer' }),
    as(bob, owner, 'DELETE', `/users/${ann.id}`),
  ]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const { body: users } = await owner.get('/users');
  const admins = (users.entities as { id: string; role: string }[]).filter(({ role }) => role === 'admin');
  expect(admins).toHaveLength(1);
  const last = `/users/${admins[0]?.id}`;
  expect(await owner.patch(last, { role: 'publisher' })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('last admin') },
  });
  expect((await owner.delete(last)).status).toBe(409);
});

test('user: no caller can grant more than its own rights, by an invitation, a role, a link or a key', async () => {
  const owner = await plane.newAccount();
  const admin = await invite(owner, 'admin');
  const helper = await plane.newKey(owner, ['user:create', 'user:update', 'key:create']);
  for (const role of ['viewer', 'admin']) {
    expect((await helper.post('/users', { email: 'x@example.com', role })).status).toBe(403);
    expect((await helper.patch(`/users/${admin.id}`, { role })).status).toBe(403);
  }
  expect((await helper.post('/sign-in-links', { userId: admin.id })).status).toBe(403);
  const maker = await plane.newKey(owner, ['key:create']);
  expect((await maker.post('/sign-in-links', { userId: admin.id })).status).toBe(403);
  for (const body of [{}, { key: owner.key, userId: admin.id }, { userId: 'none' }]) {
    expect((await owner.post('/sign-in-links', body)).status).toBe(400);
  }
  expect(await owner.post('/users', { email: 'no address', role: 'viewer' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('email') },
  });
});

test('user: a new role applies from the next request; ended sessions and a removal apply at once, also to sign-in links', async () => {
  const owner = await plane.newAccount();
  const user = await invite(owner, 'viewer');
  const publish = () => as(user, owner, 'POST', '/versions/draft/abandon');
  expect((await publish()).status).toBe(403);
  await owner.patch(`/users/${user.id}`, { role: 'publisher' });
  expect((await publish()).status).toBe(200);
  const code = async () => (await owner.post('/sign-in-links', { userId: user.id })).body.code as string;
  const redeem = (given: string) => send('POST', '/session/redeem', { body: { code: given }, headers: fromConsole });
  const unused = await code();
  expect((await owner.delete(`/users/${user.id}/sessions`)).body).toEqual({ ended: 1 });
  expect(await worksFor(user.cookie, owner.accountId)).toEqual([false, false]);
  expect((await redeem(unused)).status).toBe(401);
  const again = await redeem(await code());
  const left = await code();
  expect(await worksFor(cookieOf(again), owner.accountId)).toEqual([true, true]);
  expect((await owner.delete(`/users/${user.id}`)).body).toEqual({ deleted: true });
  expect(await worksFor(cookieOf(again), owner.accountId)).toEqual([false, false]);
  expect((await redeem(left)).status).toBe(401);
});

test('sign-in link: a command makes a link for a user, and creates the first admin', async () => {
  const owner = await plane.newAccount();
  const context = { storage: plane.storage, now: new Date() };
  const given = { email: 'First@example.com', account: owner.accountId };
  await expect(signInLinkCommand(context, given)).rejects.toThrow('no user First@example.com: add --role');
  await expect(signInLinkCommand(context, { ...given, role: 'owner' })).rejects.toThrow('one of viewer, editor');
  const code = await signInLinkCommand(context, { ...given, role: 'admin' });
  const redeemed = await send('POST', '/session/redeem', { body: { code }, headers: fromConsole });
  const { accounts } = (await redeemed.json()) as Session;
  expect(accounts).toMatchObject([{ scopes: ['all'], user: { email: 'first@example.com', role: 'admin' } }]);
  await expect(signInLinkCommand(context, { ...given, role: 'viewer' })).rejects.toThrow('has the role admin');
  expect(await signInLinkCommand(context, given)).toHaveLength(43);
});

test('me: any key may ask which account it belongs to', async () => {
  const nobody = await plane.newKey(client, ['audit:list']);
  expect((await nobody.get('/me')).body).toMatchObject({ accountId: client.accountId, scopes: ['audit:list'] });
});

test('approval: a user and the keys it made cannot approve their own request, but another key can', async () => {
  const account = await plane.newAccount();
  const ada = await invite(account, 'admin', 'ada@example.com');
  const keyOf = async (headers: Readonly<Record<string, string>>): Promise<{ readonly authorization: string }> => {
    const made = await send('POST', '/keys', { body: { name: 'a key', scopes: ['all'] }, headers });
    return { authorization: `Bearer ${((await made.json()) as { readonly key: string }).key}` };
  };
  const asAda = { ...fromConsole, cookie: ada.cookie, 'x-sluice-account': account.accountId };
  const own = await keyOf(asAda);
  const ofOwn = await keyOf(own);
  const settings = { httpDestinationUrl: 'https://example.com/' };
  await account.post('/destinations', { type: 'HTTPDestination', settings });
  const { body: version } = await as(ada, account, 'POST', '/versions', { name: 'by ada' });
  const path = `/versions/${String(version['id'])}`;
  expect((await as(ada, account, 'POST', `${path}/request-approval`, {})).status).toBe(200);
  for (const headers of [asAda, own, ofOwn]) {
    expect((await send('POST', `${path}/approve`, { body: {}, headers })).status).toBe(403);
  }
  expect((await send('POST', `${path}/request-approval`, { body: {}, headers: ofOwn })).status).toBe(200);
  expect((await as(ada, account, 'POST', `${path}/approve`, {})).status).toBe(403);
  // No user created the first key of an account.
  expect((await account.post(`${path}/approve`)).body).toMatchObject({
    status: 'approved',
    requestedByName: 'a key',
    requestedByUser: 'ada@example.com',
    decidedByUser: null,
  });
});
