import { expect, test } from 'vitest';
import { AnswerTimes } from './answer-times.ts';

test('answer times: there is no summary before the first answer; then it covers the last 64 answers', () => {
  const times = new AnswerTimes();
  expect(times.summary()).toBeUndefined();
  times.observe(7);
  expect(times.summary()).toEqual({ half: 7, most: 7 });
  for (let tookMs = 1; tookMs <= 100; tookMs += 1) times.observe(tookMs);
  expect(times.summary()).toEqual({ half: 68, most: 97 });
});
