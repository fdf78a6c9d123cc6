import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OverBudgetError, Work } from './work.ts';

test('work: a value costs about its length as JSON, each time it is written', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 1, max: 5 }), (value, times) => {
      const work = new Work(Infinity);
      for (let time = 0; time < times; time += 1) work.write(value);
      const characters = JSON.stringify(value).length * times;
      // The difference is due to escapes, long numbers and short words.
      expect(work.written).toBeLessThanOrEqual(characters * 3 + 10 * times);
      expect(work.written * 7).toBeGreaterThanOrEqual(characters);
      expect(work.spent).toBe(work.written);
    }),
  );
});

test('work: writing a large value again and again exceeds the work that one event may cost', () => {
  const work = new Work(100_000);
  const large = { text: 'x'.repeat(30_000) };
  for (let time = 0; time < 3; time += 1) work.write(large);
  expect(() => work.write(large)).toThrow(OverBudgetError);
});
