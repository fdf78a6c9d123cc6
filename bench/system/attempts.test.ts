import { expect, test } from 'vitest';
import { createAttempts } from './attempts.ts';

const failing = () => Promise.reject(new Error('the sink is gone'));

test('attempts: a subject that fails is reported, and the other subjects are measured', async () => {
  const said: string[] = [];
  const { attempt } = createAttempts(
    (text) => said.push(text),
    () => false,
  );
  expect(await attempt('one', () => Promise.resolve(1))).toBe(1);
  expect(await attempt('two', failing)).toBeUndefined();
  expect(await attempt('one', () => Promise.resolve(2))).toBe(2);
  expect(said).toEqual(['! two could not be measured: the sink is gone']);
});

test('attempts: a subject that failed once is not measured again, so that rounds belong together', async () => {
  const attempts = createAttempts(
    () => undefined,
    () => false,
  );
  await attempts.attempt('two', failing);
  expect(await attempts.attempt('two', () => Promise.resolve(2))).toBeUndefined();
  expect(attempts.failures).toEqual(['two could not be measured: the sink is gone']);
});

test('attempts: a failure while the run is being stopped ends the scenario', async () => {
  const { attempt } = createAttempts(
    () => undefined,
    () => true,
  );
  await expect(attempt('two', failing)).rejects.toThrow('the sink is gone');
});
