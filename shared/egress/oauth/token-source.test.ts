import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { OAuthEntry } from '../../contracts/config/oauth-entry.ts';
import type { OAuthGrant } from '../oauth-grant.ts';
import type { Sender } from '../sender.ts';
import { createTokenSource } from './token-source.ts';

const grant: OAuthGrant = {
  tokenUrl: 'https://platform.example/token',
  by: { kind: 'refresh-token', refreshToken: 'refresh' },
  client: { id: 'client', secret: 'secret', sentIn: 'body' },
};
const nowMs = 1_800_000_000_000;

/** A source whose store has the token `stored`, and whose platform issues `issued`, counting the requests. */
function sourceWith(issued: string) {
  let entry: OAuthEntry = { v: 1, token: { accessToken: 'stored', expiresAtMs: nowMs + 3_600_000 } };
  let revision = 1;
  const source = createTokenSource({
    store: {
      read: () => Promise.resolve({ entry, revision }),
      write(_accountId, _key, next, before) {
        if (before !== revision) return Promise.resolve(undefined);
        entry = next;
        revision += 1;
        return Promise.resolve(revision);
      },
    },
    requestTimeoutMs: 15_000,
    now: () => nowMs,
  });
  const platform = { requests: 0 };
  const sender: Sender = {
    send() {
      platform.requests += 1;
      const body = JSON.stringify({ access_token: issued, token_type: 'Bearer', expires_in: 3_600 });
      return Promise.resolve({ kind: 'answered', answer: { status: 200, headers: {}, body } });
    },
    close: () => Promise.resolve(),
  };
  return { platform, get: (rejected?: string) => source.get('account', grant, sender, rejected) };
}

test('token: a caller whose token was rejected does not get a token from a request that began before the rejection', async () => {
  const { platform, get } = sourceWith('next');
  const [first, ...others] = await Promise.all([get(), get('stored'), get('stored'), get('an older one')]);
  expect(first).toEqual({ kind: 'token', accessToken: 'stored' });
  expect(others).toEqual(['next', 'next', 'stored'].map((accessToken) => ({ kind: 'token', accessToken })));
  expect(platform.requests).toBe(1);
});

test('token: if the platform issues the rejected token again, it is asked once for all callers', async () => {
  const { platform, get } = sourceWith('stored');
  const results = await Promise.all([get(), get('stored'), get('stored')]);
  expect(results).toEqual([1, 2, 3].map(() => ({ kind: 'token', accessToken: 'stored' })));
  expect(platform.requests).toBe(1);
});

test('token: while the platform issues none, it is asked every five seconds, and the current token is used until it ends', async () => {
  const stored = { accessToken: 'stored', expiresAtMs: nowMs + 3_600_000 };
  let atMs = nowMs;
  let requests = 0;
  const source = createTokenSource({
    store: { read: async () => ({ entry: { v: 1, token: stored }, revision: 1 }), write: async () => 2 },
    requestTimeoutMs: 15_000,
    now: () => atMs,
  });
  const sender: Sender = {
    async send() {
      requests += 1;
      return { kind: 'answered', answer: { status: 503, headers: {}, body: '' } };
    },
    close: async () => undefined,
  };
  const getAt = async (afterMs: number) => {
    atMs = nowMs + afterMs;
    const result = await source.get('account', grant, sender);
    await setImmediate();
    return [result.kind, requests];
  };
  expect(await getAt(0)).toEqual(['token', 0]);
  expect(await getAt(3_400_000)).toEqual(['token', 1]);
  expect(await getAt(3_404_999)).toEqual(['token', 1]);
  expect(await getAt(3_405_000)).toEqual(['token', 2]);
  expect(await getAt(3_599_000)).toEqual(['none', 3]);
  expect(await getAt(3_600_000)).toEqual(['none', 3]);
});

/**
 * A source with a stored refresh token, which the platform replaces. `meanwhile` runs while the platform is asked, and
 * may change what is stored.
 */
function rotating({ meanwhile = (_entry: OAuthEntry): OAuthEntry | undefined => undefined, failures = 0 } = {}) {
  const stored: { entry: OAuthEntry; revision: number } = { entry: { v: 1, refreshToken: 'used' }, revision: 1 };
  let left = failures;
  const source = createTokenSource({
    store: {
      read: () => Promise.resolve({ ...stored }),
      write(_accountId, _key, entry, revision) {
        if (revision !== stored.revision) return Promise.resolve(undefined);
        if (entry.token !== undefined && (left -= 1) >= 0) return Promise.reject(new Error('the log is away'));
        stored.entry = entry;
        stored.revision += 1;
        return Promise.resolve(stored.revision);
      },
    },
    now: () => nowMs,
    requestTimeoutMs: 60_000,
  });
  const claims: number[] = [];
  const sender: Sender = {
    send() {
      claims.push((stored.entry.askedUntilMs ?? 0) - nowMs);
      const changed = meanwhile(stored.entry);
      if (changed !== undefined) {
        stored.entry = changed;
        stored.revision += 1;
      }
      const body = { access_token: 'issued', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'next' };
      return Promise.resolve({ kind: 'answered', answer: { status: 200, headers: {}, body: JSON.stringify(body) } });
    },
    close: () => Promise.resolve(),
  };
  return { stored, claims, get: () => source.get('account', grant, sender) };
}

test('token: if another process claims the request meanwhile, the new refresh token is stored nevertheless', async () => {
  const { stored, claims, get } = rotating({ meanwhile: (entry) => ({ ...entry, askedUntilMs: nowMs + 20_000 }) });
  expect(await get()).toEqual({ kind: 'token', accessToken: 'issued' });
  expect(stored.entry).toMatchObject({ token: { accessToken: 'issued' }, refreshToken: 'next' });
  expect(claims).toHaveLength(1);
});

test('token: if another process stores a newer refresh token meanwhile, its token is used', async () => {
  const token = { accessToken: 'of another', expiresAtMs: nowMs + 3_600_000 };
  const newer: OAuthEntry = { v: 1, token, refreshToken: 'newer' };
  const { stored, claims, get } = rotating({ meanwhile: () => newer });
  expect(await get()).toEqual({ kind: 'token', accessToken: 'of another' });
  expect(stored.entry).toEqual(newer);
  expect(claims).toHaveLength(1);
});

test('token: storing is tried again, since the platform accepts the previous refresh token no more', async () => {
  const { stored, claims, get } = rotating({ failures: 2 });
  expect(await get()).toEqual({ kind: 'token', accessToken: 'issued' });
  expect(stored.entry).toMatchObject({ token: { accessToken: 'issued' }, refreshToken: 'next' });
  expect(claims).toHaveLength(1);
});

test('token: the claim of a process lasts longer than its request may', async () => {
  const { claims, get } = rotating();
  await get();
  expect(claims[0]).toBeGreaterThan(60_000);
});
