import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readAccounts, replaceAccounts } from './accounts.ts';
import { readAll } from './read-all.ts';
import { request } from './request.ts';
import type { SignedIn } from './types.ts';

type Sent = { readonly path: string; readonly headers: Readonly<Record<string, string>> };

/** Requests that the page sent, oldest first. */
let sent: Sent[];
let answer: (path: string) => Response | Promise<Response>;

beforeEach(() => {
  sent = [];
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async (path: string, { headers }: { readonly headers: Sent['headers'] }) => {
    sent.push({ path, headers });
    return answer(path);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const user = (id: string): SignedIn => ({
  accountId: 'account',
  accountName: 'Account',
  keyId: null,
  keyName: null,
  user: { id, email: `${id}@example.com`, role: 'admin' },
  scopes: ['all'],
});
const refused = (): Response => Response.json({ error: 'a valid API key is required' }, { status: 401 });

test('request: names the key or user that the page shows', async () => {
  answer = () => Response.json({});
  replaceAccounts([user('ada')]);
  await request('GET', '/destinations');
  replaceAccounts([{ ...user('ada'), user: null, keyId: 'key', keyName: 'a key' }]);
  await request('GET', '/destinations');
  expect(sent.map(({ headers }) => headers['x-sluice-holder'])).toEqual(['ada', 'key']);
});

test('request: after a 401 the page shows who is signed in now, or the sign-in page if that cannot be read', async () => {
  replaceAccounts([user('ada')]);
  answer = (path) => (path === '/rest/v1/session' ? Response.json({ accounts: [user('grace')] }) : refused());
  await expect(request('GET', '/destinations')).rejects.toMatchObject({ status: 401 });
  expect(readAccounts().current).toEqual(user('grace'));
  answer = (path) => (path === '/rest/v1/session' ? Promise.reject(new Error('no network')) : refused());
  await expect(request('GET', '/destinations')).rejects.toMatchObject({ status: 401 });
  expect(readAccounts()).toMatchObject({ all: [], current: undefined });
});

test('read all: says whether the list has more entities than the 10,000 read', async () => {
  const pageOf = (nextCursor: string | null): Response =>
    Response.json({ entities: Array.from({ length: 100 }, (_, index) => index), pagination: { nextCursor } });
  answer = () => pageOf('more');
  expect(await readAll('/audit')).toMatchObject({ entities: { length: 10_000 }, isComplete: false });
  answer = () => pageOf(null);
  expect(await readAll('/audit?action=a')).toMatchObject({ entities: { length: 100 }, isComplete: true });
});
