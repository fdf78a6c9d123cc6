import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeActor, planMoves } from './thread-placement.ts';
import { decideRestart, decideBlamelessRestart, restartLimits } from './restart-policy.ts';

test.each([
  [0, 100],
  [1, 200],
  [4, 1_600],
  [8, 10_000],
])('restart policy: with %i failures before, a restart waits %i ms', (before, delayMs) => {
  expect(decideRestart(before, 0, 0)).toEqual({ kind: 'restart', delayMs, failuresInARow: before + 1 });
});

test('restart policy: quarantine: an actor is quarantined after many failures in a row', () => {
  expect(decideRestart(9, 0, 0)).toMatchObject({ kind: 'quarantine', delayMs: restartLimits.quarantineMs });
});

test('restart policy: an actor is restarted soon, and never quarantined, after failures that it did not cause', () => {
  for (const before of [0, 9]) {
    expect(decideBlamelessRestart(before, 0)).toEqual({ kind: 'restart', delayMs: 2_000, failuresInARow: before });
  }
});

test('restart policy: stable run: after a stable run the count of failures starts again at 0', () => {
  expect(decideRestart(9, 60_000, 0)).toMatchObject({ kind: 'restart', failuresInARow: 1, delayMs: 100 });
});

test('restart policy: property: delays are within their bounds', () => {
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.nat(200_000),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (before, ranMs, random) => {
        const { kind, delayMs } = decideRestart(before, ranMs, random);
        expect(delayMs).toBeGreaterThanOrEqual(restartLimits.backoff.firstMs / 2);
        expect(delayMs).toBeLessThanOrEqual(
          kind === 'restart' ? restartLimits.backoff.longestMs : restartLimits.quarantineMs,
        );
      },
    ),
  );
});

test('placement: without threads, an actor gets no thread', () => {
  expect(placeActor('a', new Map())).toBeUndefined();
});

test('placement: property: actors placed one after the other are spread evenly, and the same way each time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.uniqueArray(fc.string(), { maxLength: 60 }), (threads, actorIds) => {
      const place = (): { counts: number[]; threads: (number | undefined)[] } => {
        const counts = Array.from({ length: threads }, () => 0);
        const placed = actorIds.map((actorId) => {
          const loads = new Map(counts.map((count, thread) => [thread, { ofKind: count, weight: count }]));
          const thread = placeActor(actorId, loads);
          if (thread !== undefined) counts[thread] = (counts[thread] ?? 0) + 1;
          return thread;
        });
        return { counts, threads: placed };
      };
      const { counts, threads: placed } = place();
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(place().threads).toEqual(placed);
    }),
  );
});

test.each([
  { case: 'fewest of its kind, however many there are of others', busy: [1, 0], weights: [1, 9], expected: 1 },
  { case: 'among those the least weight', busy: [0, 0], weights: [3, 2], expected: 1 },
])('placement: $case', ({ busy, weights, expected }) => {
  const loads = new Map(busy.map((ofKind, thread) => [thread, { ofKind, weight: weights[thread] ?? 0 }]));
  for (const actorId of ['a', 'b', 'c', 'd']) expect(placeActor(actorId, loads)).toBe(expected);
});

test.each([
  [[4, 0], 2],
  [[0, 5], 2],
  [[3, 2], 0],
  [[3, 3, 0], 2],
  [[7, 1, 1], 4],
  [[0, 0], 0],
])('placement: moves: threads with %o actors are balanced by moving %i of them', (counts, moves) => {
  const placed = counts.flatMap((count, thread) =>
    Array.from({ length: count }, (_, i) => ({ actorId: `${thread}-${i}`, thread })),
  );
  const moving = new Set(planMoves(placed, [...counts.keys()]));
  expect(moving.size).toBe(moves);
  const left = counts.map((_, thread) => placed.filter((p) => p.thread === thread && !moving.has(p.actorId)).length);
  expect(Math.max(...left)).toBeLessThanOrEqual(Math.ceil(placed.length / counts.length));
});
