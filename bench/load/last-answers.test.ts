import { expect, test } from 'vitest';
import { takeLastAnswers } from './last-answers.ts';
import { LoadRecorder } from './load-recorder.ts';

test('last answers: a request that is never answered is counted, with the time it has been waiting', async () => {
  const recorder = new LoadRecorder(0);
  recorder.record(200, 1);
  const pool = { inFlight: 2, waitingSince: () => [performance.now() - 7_000, performance.now() - 3_000] };
  expect(await takeLastAnswers(pool, recorder, 0)).toBe(2);
  expect(recorder.answers).toBe(1);
  expect(recorder.percentiles().max).toBeGreaterThan(6_990);
});

test('last answers: the run waits for requests that are still in flight', async () => {
  let asked = 0;
  const pool = {
    get inFlight() {
      asked += 1;
      return asked < 5 ? 1 : 0;
    },
    waitingSince: () => [],
  };
  expect(await takeLastAnswers(pool, new LoadRecorder(0))).toBe(0);
  expect(asked).toBe(5);
});
