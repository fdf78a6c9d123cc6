import { expect, test } from 'vitest';
import { createStops } from './stops.ts';

test('stops: end what was started last first, once each', async () => {
  const ended: string[] = [];
  const stops = createStops();
  const add = (name: string) =>
    stops.add(async () => {
      ended.push(name);
    });
  add('first');
  const second = add('second');
  add('third');
  await second();
  await stops.run();
  await stops.run();
  expect(ended).toEqual(['second', 'third', 'first']);
});

test('stops: one that fails does not prevent the others', async () => {
  const ended: string[] = [];
  const stops = createStops();
  stops.add(async () => void ended.push('first'));
  stops.add(() => Promise.reject(new Error('it hangs')));
  await expect(stops.run()).rejects.toThrow('it hangs');
  expect(ended).toEqual(['first']);
});
