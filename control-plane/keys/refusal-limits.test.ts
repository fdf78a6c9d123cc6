import { expect, test } from 'vitest';
import { createRefusalLimits } from './refusal-limits.ts';

test('refusal limits: an address over its burst of refused keys may try again as its rate allows', () => {
  let nowMs = 0;
  const limits = createRefusalLimits({ perS: 2, burst: 3, now: () => nowMs });
  for (let refused = 0; refused < 2; refused += 1) limits.noteRefused('1.2.3.4');
  expect(limits.retryAfterS('1.2.3.4', 'Bearer a')).toBe(0);
  limits.noteRefused('1.2.3.4');
  expect(limits.retryAfterS('1.2.3.4', 'Bearer a')).toBe(1);
  expect(limits.retryAfterS('1.2.3.5', 'Bearer a')).toBe(0);
  nowMs = 500;
  expect(limits.retryAfterS('1.2.3.4', 'Bearer a')).toBe(0);
});

test('refusal limits: a key that was valid is looked up, however many keys its address had refused', () => {
  const limits = createRefusalLimits({ perS: 1, burst: 1, now: () => 0 });
  limits.noteValid('Bearer good');
  for (let refused = 0; refused < 10; refused += 1) limits.noteRefused('1.2.3.4');
  expect(limits.retryAfterS('1.2.3.4', 'Bearer good')).toBe(0);
  expect(limits.retryAfterS('1.2.3.4', 'Bearer bad')).toBe(10);
});
