import type { IncomingMessage } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import { expect, test } from 'vitest';
import type { Principal } from '../api/define-endpoint.ts';
import { createLogIn } from './log-in.ts';
import { createRefusalLimits } from './refusal-limits.ts';
import type { RefusalReason } from './refused-logins.ts';

const principal: Principal = { accountId: 'a', kind: 'key', id: 'k', name: 'k', scopes: ['all'], expiresAt: null };

/** `Bearer good` is a valid key, `Bearer odd` is malformed, any other is unknown. */
function rig() {
  const asked: (string | undefined)[] = [];
  const noted: RefusalReason[] = [];
  const logIn = createLogIn({
    authenticate(_em, authorization, _now, onRefused = () => undefined) {
      asked.push(authorization);
      if (authorization === 'Bearer good') return Promise.resolve(principal);
      if (authorization !== undefined) onRefused(authorization === 'Bearer odd' ? 'malformed' : 'unknown', undefined);
      return Promise.resolve(undefined);
    },
    refusedLogins: { note: (reason) => void noted.push(reason) },
    refusalLimits: createRefusalLimits({ perS: 1, burst: 2, now: () => 0 }),
    addressOf: () => '1.2.3.4',
  });
  const show = (authorization: string | undefined, mayBeGuessed?: boolean) =>
    logIn({} as EntityManager, {} as IncomingMessage, authorization, new Date(), mayBeGuessed);
  return { show, asked, noted };
}

test('log in: after too many refused keys the next key is not looked up, and its refusal is recorded', async () => {
  const { show, asked, noted } = rig();
  await show('Bearer a');
  await show('Bearer b');
  await expect(show('Bearer c')).rejects.toMatchObject({ status: 429, retryAfterS: 1 });
  expect(asked).toEqual(['Bearer a', 'Bearer b']);
  expect(noted).toEqual(['unknown', 'unknown', 'not-looked-up']);
  expect(await show(undefined)).toBeUndefined();
});

test('log in: text that cannot be a key causes no look-up and does not count as a refused key', async () => {
  const { show } = rig();
  for (let times = 0; times < 5; times += 1) await show('Bearer odd');
  expect(await show('Bearer good')).toBe(principal);
});

test('log in: a key that cannot have been guessed is looked up, and known from then on', async () => {
  const { show } = rig();
  for (const key of ['Bearer a', 'Bearer b']) await show(key);
  await expect(show('Bearer good')).rejects.toMatchObject({ status: 429 });
  expect(await show('Bearer good', false)).toBe(principal);
  expect(await show('Bearer good')).toBe(principal);
});
