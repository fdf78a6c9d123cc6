import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tickMs } from '../../runtime/every.ts';
import { currentUntil, erasureHoldsWithinMs } from './follow-erasures.ts';

test('erasures: if the log answers at once, known erasures stay current for about a second', () => {
  expect(currentUntil(500, 500)).toBe(500 + erasureHoldsWithinMs);
  expect(currentUntil(500, 505)).toBe(510 + erasureHoldsWithinMs);
});

test('erasures: property: if the log takes up to five seconds for each answer, sending never stops', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.nat(tickMs), (answerMs, waitMs) => {
      const askedAgainAt = answerMs + waitMs;
      expect(currentUntil(0, answerMs)).toBeGreaterThan(askedAgainAt + answerMs);
    }),
  );
});

test('erasures: after an answer that took 20 seconds, sending stops until the next answer', () => {
  expect(currentUntil(0, 20_000)).toBeLessThan(20_000);
});
