import { expect, test } from 'vitest';
import type { Untried } from '../sources/untried.ts';
import { createKeepUntried } from './keep-untried.ts';

function open({ isFull = false } = {}) {
  const counts = {
    dead_letters: 0,
    dead_letters_unreadable: 0,
    dead_letters_set_aside: 0,
    erased: 0,
    missed_events: 0,
  };
  const kept: string[] = [];
  const skipped: string[] = [];
  const keep = createKeepUntried({
    counts,
    deadLetters: {
      add: () => Promise.reject(new Error('is readable')),
      addUnreadable(data, reason) {
        kept.push(`${Buffer.from(data).toString()}: ${reason}`);
        return Promise.resolve(!isFull);
      },
    },
    health: { skipped: (reason) => void skipped.push(reason), countMove: () => undefined },
    observe: () => undefined,
    isErased: () => false,
  });
  return { keep, counts, kept, skipped };
}

const unreadable: readonly Untried[] = [
  { kind: 'unreadable line', data: 'a' },
  { kind: 'unreadable frame', data: Buffer.from('b'), problem: 'version 9' },
];

test('untried: an unreadable line and an unreadable frame become one dead letter each, and are counted', async () => {
  const { keep, counts, kept, skipped } = open();
  for (const one of unreadable) await keep(one);
  expect(kept).toEqual(['a: not a resolved event this build knows', 'b: version 9']);
  expect(counts).toMatchObject({ dead_letters: 2, dead_letters_unreadable: 2, missed_events: 0 });
  expect(skipped).toEqual([]);
});

test('untried: if the dead letters are full, the line or frame is recorded as skipped', async () => {
  const { keep, counts, skipped } = open({ isFull: true });
  for (const one of unreadable) await keep(one);
  expect(counts.missed_events).toBe(2);
  expect(skipped).toEqual(['dead_letters_full', 'dead_letters_full']);
});
