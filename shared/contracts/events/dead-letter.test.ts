import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import {
  decodeDeadLetter,
  encodeDeadLetter,
  encodeUnreadable,
  lineOfDeadLetter,
  matchesFilter,
} from './dead-letter.ts';
import type { DeadLetter, DeadLetterFilter } from './dead-letter.ts';
import { encodeResolved } from './resolved-event.ts';

const request = { method: 'POST', host: 'example.com', status: 400 };
const answer = { status: 400, message: 'no such user', headers: {}, body: '{}' };
const letter: DeadLetter = {
  v: 1,
  destinationId: 'd',
  reason: 'http_400',
  attempts: 2,
  firstAttemptAt: 1_000,
  lastAttemptAt: 2_000,
  request,
  exchange: { request: { method: 'POST', url: 'https://example.com/', headers: {}, events: 1 }, answer },
  event: sampleEvent({ id: 'e' }),
};

test('dead letter: keeps the line of its event byte for byte', () => {
  const line = encodeResolved(letter.event).replace('"v":1', '"v": 1');
  const data = encodeDeadLetter({ ...letter, event: line });
  expect(lineOfDeadLetter(data)).toBe(line);
  expect(decodeDeadLetter(data)).toMatchObject({ ...letter, event: { event: { id: 'e' } } });
});

test('dead letter: a format that this build does not know is not read', () => {
  const said = [
    null,
    [],
    { ...letter, v: 2 },
    { ...letter, event: 'e' },
    { ...letter, event: { ...letter.event, v: 2 } },
  ];
  for (const one of said) expect([one, decodeDeadLetter(Buffer.from(JSON.stringify(one)))]).toEqual([one, undefined]);
  const unreadable = encodeUnreadable('d', 'no JSON', Buffer.from([0, 0xff]));
  expect(decodeDeadLetter(unreadable)).toBeUndefined();
  const raw = Buffer.from([0, 0xff]).toString('base64');
  expect(JSON.parse(Buffer.from(unreadable).toString())).toEqual({ v: 1, destinationId: 'd', reason: 'no JSON', raw });
});

test.each<[DeadLetterFilter, boolean]>([
  [{}, true],
  [{ reason: 'http_400' }, true],
  [{ reason: 'http_500' }, false],
  [{ message: 'no such user' }, true],
  [{ message: 'no such' }, false],
  [{ eventIds: ['other', 'e'] }, true],
  [{ eventIds: ['other'] }, false],
  [{ eventIds: [] }, false],
  [{ fromMs: 2_000 }, true],
  [{ fromMs: 2_001 }, false],
  [{ toMs: 2_001 }, true],
  [{ toMs: 2_000 }, false],
  [{ reason: 'http_400', message: 'no such user', eventIds: ['e'], fromMs: 1, toMs: 1 }, false],
])('dead letter: the filter %j selects the letter: %s', (filter, isSelected) => {
  expect(matchesFilter(letter, filter)).toBe(isSelected);
});

test('dead letter: without an answer the letter matches no message filter', () => {
  const { exchange, ...others } = letter;
  expect(matchesFilter(others, { message: 'no such user' })).toBe(false);
  const { answer: _, ...unanswered } = exchange ?? expect.unreachable();
  expect(matchesFilter({ ...others, exchange: unanswered }, { message: 'no such user' })).toBe(false);
});
