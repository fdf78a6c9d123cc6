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
  const moves: string[] = [];
  const keep = createKeepUntried({
    counts,
    deadLetters: {
      add: () => Promise.reject(new Error('is readable')),
      addUnreadable(data, reason) {
        kept.push(`${Buffer.from(data).toString()}: ${reason}`);
        return Promise.resolve(!isFull);
      },
    },
    health: {
      skipped: (reason) => void skipped.push(reason),
      countMove: ({ receivedAtMs }, from, to) => void moves.push(`${receivedAtMs}: ${from} > ${to}`),
    },
    observe: () => undefined,
    isErased: () => false,
  });
  return { keep, counts, kept, skipped, moves };
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

test('untried: an event that was removed from EVENTS leaves the stage in which it was counted', async () => {
  const { keep, moves, skipped } = open();
  for (const stage of ['waiting', 'retrying', 'replay'] as const) await keep({ kind: 'gone', stage, receivedAtMs: 1 });
  expect(moves).toEqual(['1: waiting > skipped', '1: retrying > skipped', '1: replay > skipped']);
  expect(skipped).toEqual(['event_removed', 'event_removed', 'event_removed']);
});

test('untried: if the dead letters are full, the line or frame is recorded as skipped', async () => {
  const { keep, counts, skipped } = open({ isFull: true });
  for (const one of unreadable) await keep(one);
  expect(counts.missed_events).toBe(2);
  expect(skipped).toEqual(['dead_letters_full', 'dead_letters_full']);
});
