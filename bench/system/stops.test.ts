import { expect, test } from 'vitest';
import { createStops } from './stops.ts';

test('stops: run once each, the last added first', async () => {
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

test('stops: a stop that fails does not prevent the other stops', async () => {
  const ended: string[] = [];
  const stops = createStops();
  stops.add(async () => void ended.push('first'));
  stops.add(() => Promise.reject(new Error('it hangs')));
  await expect(stops.run()).rejects.toThrow('it hangs');
  expect(ended).toEqual(['first']);
});
