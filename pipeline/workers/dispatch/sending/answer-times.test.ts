import { expect, test } from 'vitest';
import { AnswerTimes } from './answer-times.ts';

test('answer times: there are none before the first answer, then the times of the last 64', () => {
  const times = new AnswerTimes();
  expect(times.summary()).toBeUndefined();
  times.observe(7);
  expect(times.summary()).toEqual({ half: 7, most: 7 });
  for (let tookMs = 1; tookMs <= 100; tookMs += 1) times.observe(tookMs);
  expect(times.summary()).toEqual({ half: 68, most: 97 });
});
