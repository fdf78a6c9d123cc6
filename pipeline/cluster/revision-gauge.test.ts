import { expect, test } from 'vitest';
import { createRevisionGauge } from './revision-gauge.ts';

const change = (revision: number): { revision: number; upTo: number } => ({ revision, upTo: revision });

test('revision gauge: shows the last revision before the first revision that is not applied yet', () => {
  const gauge = createRevisionGauge(() => undefined);
  const reading = gauge.begin();
  for (const revision of [3, 5, 8]) reading.seen(change(revision));
  reading.applied(5);
  expect(gauge.current).toBe(2);
  reading.applied(3);
  expect(gauge.current).toBe(7);
  reading.applied(8);
  expect(gauge.current).toBe(8);
});

test('revision gauge: does not fall while the same CONFIG is read again', () => {
  const changes: number[] = [];
  const gauge = createRevisionGauge((revision) => changes.push(revision));
  const first = gauge.begin();
  first.seen(change(8));
  first.applied(8);
  const again = gauge.begin();
  again.seen(change(8));
  again.caughtUp();
  again.applied(8);
  expect(changes).toEqual([8]);
});

test('revision gauge: a CONFIG bucket that was created again begins with its own revisions', () => {
  const changes: number[] = [];
  const gauge = createRevisionGauge((revision) => changes.push(revision));
  const first = gauge.begin();
  for (const revision of [2, 500]) first.seen(change(revision));
  first.applied(500);
  first.applied(2);
  const again = gauge.begin();
  again.seen(change(2));
  again.caughtUp();
  expect(gauge.current).toBe(1);
  // This revision belongs to the earlier CONFIG and is applied late.
  first.applied(2);
  expect(gauge.current).toBe(1);
  again.applied(2);
  expect(changes).toEqual([1, 500, 1, 2]);
});
