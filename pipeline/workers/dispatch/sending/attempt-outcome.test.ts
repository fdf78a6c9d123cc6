import { expect, test } from 'vitest';
import { attemptOutcome } from './attempt-outcome.ts';

const request = { method: 'POST', host: 'example.com' } as const;

test.each([
  [{ outcome: { kind: 'delivered' }, request: { ...request, status: 204 } }, 'delivered'],
  [{ outcome: { kind: 'retry', reason: 'status 429' }, request: { ...request, status: 429 } }, 'throttled'],
  [
    { outcome: { kind: 'retry', reason: 'code 40100', isThrottled: true }, request: { ...request, status: 200 } },
    'throttled',
  ],
  [{ outcome: { kind: 'retry', reason: 'status 503' }, request: { ...request, status: 503 } }, 'unavailable'],
  [{ outcome: { kind: 'reject', reason: 'status 400' }, request: { ...request, status: 400 } }, 'refused'],
  [{ outcome: { kind: 'reject', reason: 'row refused' }, request: { ...request, status: 200 } }, 'refused'],
  [{ outcome: { kind: 'retry', reason: 'network UND_ERR_HEADERS_TIMEOUT' }, request, failure: 'timeout' }, 'timeout'],
  [{ outcome: { kind: 'retry', reason: 'network ECONNREFUSED' }, request, failure: 'connection' }, 'connection'],
  [
    { outcome: { kind: 'reject', reason: 'address or port not allowed (EGRESS_ALLOW)' }, request, failure: 'blocked' },
    'blocked',
  ],
  [
    { outcome: { kind: 'reject', reason: 'invalid request: upgrade must not be set' }, request, failure: 'invalid' },
    'unfit',
  ],
  [{ outcome: { kind: 'reject', reason: 'building the request: TypeError' } }, 'unfit'],
] as const)('attempt outcome: %j is %s', (attempt, expected) => {
  expect(attemptOutcome(attempt)).toBe(expected);
});
