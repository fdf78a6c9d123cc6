import { expect, test } from 'vitest';
import type { PublishFailure } from './publish-answer.ts';
import { limitTries } from './publisher.ts';

const triesOf = (reason: PublishFailure): number => {
  const mayTry = limitTries({ fullMax: 3, othersMax: 5 });
  let tries = 1;
  while (tries < 100 && mayTry(reason)) tries += 1;
  return tries;
};

test('limited tries: a full log, or a log that does not answer, ends the tries; a log that cannot be reached does not', () => {
  expect(triesOf('full')).toBe(3);
  for (const reason of ['timeout', 'busy', 'refused'] as const) expect(triesOf(reason)).toBe(5);
  expect(triesOf('too_large')).toBe(1);
  expect(triesOf('disconnected')).toBe(100);
});
