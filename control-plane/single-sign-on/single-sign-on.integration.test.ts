import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { callbackPath } from './openid-login.ts';
import type { SingleSignOnSettings } from '../sessions/sign-in-settings.ts';
import { startOpenIdProvider, testClient } from './testing/openid-provider.ts';
import type { OpenIdProvider, Person } from './testing/openid-provider.ts';

let plane: TestControlPlane;
let provider: OpenIdProvider;
let owner: Client;
/** Address of a control plane with single sign-on. */
let baseUrl: string;

beforeAll(async () => {
  plane = await startTestControlPlane();
  owner = await plane.newAccount();
  // A second account, whose users may also sign in through the provider.
  const port = await freePort();
  baseUrl = `http://127.0.0.1:${port}`;
  provider = await startOpenIdProvider(`${baseUrl}${callbackPath}`);
  const settings: SingleSignOnSettings = {
    ...testClient,
    issuer: provider.issuer,
    consoleUrl: baseUrl,
    scope: 'openid email groups',
    label: 'Example ID',
    roles: [
      { claim: 'groups', value: 'sluice-admins', role: 'admin' },
      { claim: 'groups', value: 'sluice-editors', role: 'editor' },
      { emailDomain: 'Example.com', role: 'viewer' },
    ],
  };
  await plane.startAnother({ CONTROL_PLANE_PORT: port, CONSOLE_SIGN_IN: JSON.stringify({ singleSignOn: settings }) });
});
afterAll(async () => {
  await provider?.stop();
  await plane?.stop();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const fromConsole = { 'x-sluice-console': '1' };

/** Cookies of one browser, by origin. */
type Jar = Map<string, Map<string, string>>;

type Visit = { readonly method?: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** A browser's request. Redirects are followed until one leads to the console. */
async function visit(jar: Jar, url: string, init: Visit = {}): Promise<Response> {
  const { origin } = new URL(url);
  const cookies = jar.get(origin) ?? new Map<string, string>();
  jar.set(origin, cookies);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(url, {
    ...init,
    redirect: 'manual',
    headers: { ...(cookie === '' ? {} : { cookie }), ...init.headers },
  });
  for (const set of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  return answer;
}

async function begin(jar: Jar): Promise<string> {
  const begun = await visit(jar, `${baseUrl}/rest/v1/session/single-sign-on`, { method: 'POST', headers: fromConsole });
  expect(begun.status).toBe(200);
  expect(begun.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
  return ((await begun.json()) as { url: string }).url;
}

/** Signs in at the provider as a person. Returns the control plane's address to which the browser comes back. */
async function throughProvider(jar: Jar, person: Person, from: string): Promise<string> {
  provider.person = person;
  let at = from;
  for (let step = 0; step < 10 && !at.startsWith(baseUrl); step += 1) {
    const answer = await visit(jar, at);
    const to = answer.headers.get('location');
    if (to === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    at = new URL(to, at).href;
  }
  if (!at.startsWith(baseUrl)) throw new Error(`ten redirects did not lead back to the control plane, but to ${at}`);
  return at;
}

type SignedIn = { readonly to: string; readonly accounts: readonly { accountId: string; user: object }[] };

async function signIn(person: Person): Promise<SignedIn> {
  const jar: Jar = new Map();
  const callback = await throughProvider(jar, person, await begin(jar));
  const answer = await visit(jar, callback);
  expect(answer.status).toBe(302);
  const session = await visit(jar, `${baseUrl}/rest/v1/session`, { headers: fromConsole });
  const { accounts } = (await session.json()) as Pick<SignedIn, 'accounts'>;
  return { to: (answer.headers.get('location') ?? '').replace(baseUrl, ''), accounts };
}

test('single sign-on: a new person becomes one user with the role of the domain; a claim may change the role at each sign-in', async () => {
  const session = await fetch(`${baseUrl}/rest/v1/session`, { headers: fromConsole });
  expect(await session.json()).toEqual({ accounts: [], singleSignOn: 'Example ID' });
  const vera = { sub: 'v-1', email: 'Vera@example.com', email_verified: true };
  const first = await signIn(vera);
  expect(first).toMatchObject({ to: '/', accounts: [{ user: { email: 'vera@example.com', role: 'viewer' } }] });
  expect((await signIn({ ...vera, groups: ['staff', 'sluice-editors'] })).accounts).toMatchObject([
    { user: { role: 'editor' } },
  ]);
  // Users are identified by the subject, because e-mail addresses may change.
  const renamed = await signIn({ ...vera, email: 'vera.new@example.com' });
  expect(renamed.accounts).toMatchObject([{ user: { email: 'vera@example.com', role: 'editor' } }]);
  const { body: users } = await owner.get('/users');
  expect(users.entities).toHaveLength(1);
  const { body: audit } = await owner.get('/audit');
  const entries = (audit.entities as { action: string; actorKind: string; actorName: string }[]).filter(
    ({ action }) => action.startsWith('user.') || action === 'session.create',
  );
  expect(entries.map(({ action, actorName }) => `${action} ${actorName}`)).toEqual([
    'session.create vera@example.com',
    'session.create vera@example.com',
    'user.update single sign-on',
    'session.create vera@example.com',
    'user.create single sign-on',
  ]);
});

test('single sign-on: a sign-in that changes the role deletes the sign-in links of the user', async () => {
  const iris = { sub: 'i-1', email: 'iris@example.com', email_verified: true };
  const user = async () => (await owner.get('/users')).body.entities.find(({ email }: Person) => email === iris.email);
  const redeem = async (code: string): Promise<number> => {
    const body = JSON.stringify({ code });
    const headers = { ...fromConsole, 'content-type': 'application/json' };
    return (await fetch(`${baseUrl}/rest/v1/session/redeem`, { method: 'POST', headers, body })).status;
  };
  await signIn(iris);
  const codes: string[] = [];
  for (let count = 0; count < 2; count += 1)
    codes.push((await owner.post('/sign-in-links', { userId: (await user()).id })).body.code);
  await signIn(iris);
  expect(await redeem(codes[0] ?? '')).toBe(200);
  await signIn({ ...iris, groups: 'sluice-editors' });
  expect([(await user()).role, await redeem(codes[1] ?? '')]).toEqual(['editor', 401]);
});

test('single sign-on: a person without a user and role, without a confirmed address, or with another person’s address is refused', async () => {
  const stranger = { sub: 's-1', email: 'stranger@elsewhere.example', email_verified: true };
  expect(await signIn(stranger)).toEqual({ to: '/sign-in?failed=no-user', accounts: [] });
  await owner.post('/users', { email: stranger.email, role: 'publisher' });
  expect((await signIn({ ...stranger, email_verified: false })).to).toBe('/sign-in?failed=no-email');
  expect((await signIn({ sub: stranger.sub, email: stranger.email })).to).toBe('/sign-in?failed=no-email');
  expect((await signIn(stranger)).accounts).toMatchObject([{ user: { role: 'publisher' } }]);
  expect(await signIn({ ...stranger, sub: 's-2' })).toEqual({ to: '/sign-in?failed=other-person', accounts: [] });
});

test.each([
  ['a role', ['email', 'email_verified']],
  ['a confirmed address', ['email', 'groups']],
])(
  'single sign-on: %s follows from a claim that only userinfo has, if the ID token has %j',
  async (_what, inIdToken) => {
    provider.inIdToken = inIdToken;
    const gina = { sub: 'g-1', email: 'gina@example.com', email_verified: true, groups: ['sluice-editors'] };
    expect((await signIn(gina)).accounts).toMatchObject([{ user: { role: 'editor' } }]);
    provider.inIdToken = [];
  },
);

test('single sign-on: the last admin stays an admin, whatever the provider says', async () => {
  const root = { sub: 'r-1', email: 'root@example.com', email_verified: true };
  expect((await signIn({ ...root, groups: 'sluice-admins' })).accounts).toMatchObject([{ user: { role: 'admin' } }]);
  const demoted = await signIn({ ...root, groups: 'sluice-editors' });
  expect(demoted.accounts).toMatchObject([{ user: { role: 'admin' } }]);
});

test('single sign-on: only the browser that began a sign-in can finish it, once and with its own state', async () => {
  const person = { sub: 'v-1', email: 'vera@example.com', email_verified: true };
  const jar: Jar = new Map();
  const callback = await throughProvider(jar, person, await begin(jar));
  const other: Jar = new Map();
  // A callback's link signs in no other browser, not even a browser that has started its own sign-in.
  expect((await visit(other, callback)).headers.get('location')).toBe(`${baseUrl}/sign-in?failed=over`);
  await begin(other);
  const forged = await visit(other, callback);
  expect(forged.headers.get('location')).toBe(`${baseUrl}/sign-in?failed=provider`);
  expect(forged.headers.getSetCookie().some((set) => set.startsWith('sluice_session='))).toBe(false);
  expect((await visit(jar, callback)).headers.get('location')).toBe(`${baseUrl}/`);
  expect((await visit(jar, callback)).headers.get('location')).toBe(`${baseUrl}/sign-in?failed=over`);
  await begin(jar);
  const denied = await visit(jar, `${baseUrl}${callbackPath}?error=access_denied&state=x`);
  expect(denied.headers.get('location')).toBe(`${baseUrl}/sign-in?failed=provider`);
  const unasked = await fetch(`${baseUrl}/rest/v1/session/single-sign-on`, { method: 'POST' });
  expect(unasked.status).toBe(403);
  const none = await fetch(`${plane.baseUrl}/rest/v1/session/single-sign-on`, { method: 'POST', headers: fromConsole });
  expect(none.status).toBe(404);
});

test('single sign-on: a person whose new address was invited keeps one user, and the invited user stays free', async () => {
  const dora = { sub: 'd-1', email: 'dora@example.com', email_verified: true };
  await signIn(dora);
  const address = 'dora.new@example.com';
  const { body: invited } = await owner.post('/users', { email: address, role: 'publisher' });
  expect((await signIn({ ...dora, email: address })).accounts).toMatchObject([
    { user: { email: 'dora@example.com', role: 'viewer' } },
  ]);
  expect((await owner.delete(`/users/${invited.id}`)).status).toBe(200);
  expect((await signIn({ ...dora, email: address })).accounts).toMatchObject([{ user: { email: 'dora@example.com' } }]);
});

test('single sign-on: a browser stays signed in to its other accounts, and its earlier sign-in to the same account ends', async () => {
  const person = { sub: 'v-1', email: 'vera@example.com', email_verified: true };
  const other = await plane.newAccount();
  const jar: Jar = new Map();
  await visit(jar, `${baseUrl}/rest/v1/session`, {
    method: 'POST',
    headers: { ...fromConsole, 'content-type': 'application/json' },
    body: JSON.stringify({ key: other.key }),
  });
  const accountsOf = async (of: Jar): Promise<readonly string[]> => {
    const session = await visit(of, `${baseUrl}/rest/v1/session`, { headers: fromConsole });
    return ((await session.json()) as Pick<SignedIn, 'accounts'>).accounts.map(({ accountId }) => accountId);
  };
  const through = async (): Promise<void> => {
    const callback = await throughProvider(jar, person, await begin(jar));
    // The provider's redirect crosses sites: browsers send no cookie with SameSite=Strict.
    jar.get(baseUrl)?.delete('sluice_session');
    await visit(jar, callback);
  };
  await through();
  expect(await accountsOf(jar)).toEqual([other.accountId, owner.accountId]);
  const before: Jar = new Map([...jar].map(([origin, cookies]) => [origin, new Map(cookies)]));
  await through();
  expect([await accountsOf(jar), await accountsOf(before)]).toEqual([
    [other.accountId, owner.accountId],
    [other.accountId],
  ]);
});
