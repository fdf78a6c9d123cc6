import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from './line-diff.ts';

test('line diff: marks the lines that the other text lacks', () => {
  const [old, now] = diffLines('a\nb\nc', 'a\nx\nc\nd');
  expect(old.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['b']);
  expect(now.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['x', 'd']);
});

test('line diff: shows both texts whole, and the same lines unmarked on both sides', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
    .map((all) => all.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const sides = diffLines(before, after);
      expect(sides.map((side) => side.map((line) => line.text).join('\n'))).toEqual([before, after]);
      const [old, now] = sides.map((side) => side.filter(({ isOwn }) => !isOwn).map((line) => line.text));
      expect(old).toEqual(now);
      if (before === after) expect(sides.flat().some(({ isOwn }) => isOwn)).toBe(false);
    }),
  );
});
