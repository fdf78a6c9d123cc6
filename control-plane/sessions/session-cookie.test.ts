import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { readSession, sessionCookie, writeSession } from './session-cookie.ts';
import type { Session } from './session-cookie.ts';

const box = createSecretBox(randomBytes(32).toString('base64'));
const untilMs = 1_700_000_000_000;
const session: Session = { v: 1, untilMs, keys: [{ accountId: 'a', id: 'one' }] };

/** What the browser sends back. */
const headersOf = (written: string) => ({ cookie: written.split(';')[0] ?? '' });

test('session cookie: is accepted until it ends and not afterwards, even if the browser keeps it', () => {
  const headers = headersOf(writeSession(session, box, untilMs - 60_000, true));
  expect(readSession(headers, box, untilMs - 1)).toEqual(session);
  expect(readSession(headers, box, untilMs)).toBeUndefined();
  expect(readSession(headers, box, untilMs + 1)).toBeUndefined();
});

test('session cookie: a cookie sealed with another key or with other contents is refused', () => {
  const foreign = createSecretBox(randomBytes(32).toString('base64'));
  expect(readSession(headersOf(writeSession(session, foreign, 0, true)), box, 0)).toBeUndefined();
  const sealed = box.seal(JSON.stringify({ ...session, keys: 'none' }), 'console session');
  expect(readSession({ cookie: `${sessionCookie}=${sealed}` }, box, 0)).toBeUndefined();
});

test('session cookie: a cookie of the old format, which has no sign-in id, is refused', () => {
  const old = { v: 1, untilMs, keys: [{ accountId: 'a', key: 'slk_a' }] };
  const headers = { cookie: `${sessionCookie}=${box.seal(JSON.stringify(old), 'console session')}` };
  expect(readSession(headers, box, 0)).toBeUndefined();
});
