import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HealthRecord } from '../../../../shared/contracts/health-record.ts';
import { HealthWindow } from './health-window.ts';
import type { HealthCount } from './health-window.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const hoursKept = 168;
const zero = { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };

test('health window: sums: events of the last 24 hours are counted, exact to the minute', () => {
  const window = new HealthWindow(hoursKept);
  window.record('succeeded', 2, 0);
  window.record('failed', 1, minuteMs);
  expect(window.sums(dayMs - 1)).toEqual({ ...zero, succeeded: 2, failed: 1 });
  expect(window.sums(dayMs)).toEqual({ ...zero, failed: 1 });
  expect(window.sums(dayMs + minuteMs)).toEqual(zero);
});

test('health window: toRecord: the record has only minutes with events, and the time of the last dispatch', () => {
  const window = new HealthWindow(hoursKept);
  window.record('stopped', 1, 5 * minuteMs);
  window.record('globalStop', 3, 9 * minuteMs + 7);
  expect(window.toRecord(10 * minuteMs)).toEqual({
    v: 1,
    minutes: [
      [5, 0, 0, 1, 0],
      [9, 0, 0, 0, 3],
    ],
    lastDispatchedAt: 9 * minuteMs + 7,
  });
});

test('health window: memory: after a busy month, only one day is kept by minute', () => {
  const window = new HealthWindow(hoursKept);
  for (let minute = 0; minute < 30 * 24 * 60; minute += 1) window.record('succeeded', 1, minute * minuteMs);
  const endMs = (30 * 24 * 60 - 1) * minuteMs;
  expect(window.toRecord(endMs).minutes).toHaveLength(1440);
  expect(window.sums(endMs)).toEqual({ ...zero, succeeded: 1440 });
});

test('health window: minutes older than a day are kept by the hour, for the given number of hours', () => {
  const window = new HealthWindow(26);
  window.record('succeeded', 1, 0);
  window.record('failed', 2, 59 * minuteMs);
  window.record('succeeded', 4, 60 * minuteMs);
  window.record('succeeded', 8, dayMs + 60 * minuteMs);
  const record = window.toRecord(dayMs + 61 * minuteMs);
  expect(record).toMatchObject({
    minutes: [[1_500, 8, 0, 0, 0]],
    hours: [
      [0, 1, 2, 0, 0],
      [1, 4, 0, 0, 0],
    ],
    hoursUntil: 61,
  });
  const resumed = new HealthWindow(26, record);
  expect(resumed.toRecord(dayMs + 61 * minuteMs)).toEqual(record);
  expect(resumed.toRecord(dayMs + 121 * minuteMs).hours).toEqual([[1, 4, 0, 0, 0]]);
});

test('health window: after the clock is set back, events count in the minutes it shows, and minutes stay in order', () => {
  const window = new HealthWindow(hoursKept);
  for (const [minute, events] of [
    [5, 1],
    [9, 2],
    [7, 4],
    [5, 8],
    [9, 16],
    [3, 32],
  ] as const)
    window.record('succeeded', events, minute * minuteMs);
  expect(window.toRecord(9 * minuteMs)).toEqual({
    v: 1,
    minutes: [
      [3, 32, 0, 0, 0],
      [5, 9, 0, 0, 0],
      [7, 4, 0, 0, 0],
      [9, 18, 0, 0, 0],
    ],
    lastDispatchedAt: 9 * minuteMs,
  });
});

test('health window: minutesFrom: returns the minutes from a given minute on, whether or not that minute has events', () => {
  const window = new HealthWindow(hoursKept);
  for (const minute of [3, 5, 8]) window.record('failed', 1, minute * minuteMs);
  const from = (minute: number): number[] => window.minutesFrom(minute, 8 * minuteMs).minutes.map(([first]) => first);
  expect([from(0), from(3), from(4), from(5), from(8), from(9)]).toEqual([
    [3, 5, 8],
    [3, 5, 8],
    [5, 8],
    [5, 8],
    [8],
    [],
  ]);
});

test('health window: hours: an hour counts every kind of outcome, and has all its minutes once the last is a day old', () => {
  const window = new HealthWindow(hoursKept);
  const counts = { succeeded: 1, failed: 2, stopped: 4, globalStop: 8 } as const;
  for (const minute of [0, 30]) {
    for (const [count, events] of Object.entries(counts))
      window.record(count as HealthCount, events, minute * minuteMs);
  }
  expect(window.toRecord(2 * dayMs)).toMatchObject({ minutes: [], hours: [[0, 2, 4, 8, 16]], hoursUntil: 31 });
  window.record('failed', 3, 2 * dayMs);
  expect(window.toRecord(2 * dayMs)).toMatchObject({
    minutes: [[2 * 1_440, 0, 3, 0, 0]],
    hours: [[0, 2, 4, 8, 16]],
  });
});

test('health window: minutes older than a day are moved to their hours with the next event, and hours are in order', () => {
  const hours: HealthRecord['hours'] = [
    [5, 1, 0, 0, 0],
    [3, 2, 0, 0, 0],
  ];
  const window = new HealthWindow(hoursKept, { v: 1, minutes: [], hours, hoursUntil: 360, lastDispatchedAt: null });
  expect(window.hoursUntil).toBe(360);
  window.record('succeeded', 4, 400 * minuteMs);
  window.record('succeeded', 8, 2 * dayMs);
  expect(window.hoursUntil).toBe(401);
  expect(window.toRecord(2 * dayMs).hours).toEqual([
    [3, 2, 0, 0, 0],
    [5, 1, 0, 0, 0],
    [6, 4, 0, 0, 0],
  ]);
});

test('health window: property: equals a list of all attempts, also over restarts and a clock that goes back a little', () => {
  const counts: readonly HealthCount[] = ['succeeded', 'failed', 'stopped', 'globalStop'];
  const step = fc.record({
    // The clock mostly goes forward, but may be set back by some minutes.
    advanceMs: fc.oneof(fc.nat(90 * minuteMs), fc.integer({ min: -5 * minuteMs, max: 0 })),
    count: fc.constantFrom(...counts),
    events: fc.integer({ min: 1, max: 9 }),
    restart: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let window = new HealthWindow(hoursKept);
      const all: { minute: number; count: HealthCount; events: number }[] = [];
      let nowMs = 10 * dayMs;
      let newestMs = nowMs;
      for (const { advanceMs, count, events, restart } of steps) {
        nowMs += advanceMs;
        newestMs = Math.max(newestMs, nowMs);
        window.record(count, events, nowMs);
        all.push({ minute: Math.floor(nowMs / minuteMs), count, events });
        if (restart)
          window = new HealthWindow(hoursKept, JSON.parse(JSON.stringify(window.toRecord(nowMs))) as HealthRecord);
      }
      const oldest = Math.floor(newestMs / minuteMs) - 1440;
      const expected = { ...zero };
      for (const { minute, count, events } of all) if (minute > oldest) expected[count] += events;
      expect(window.sums(newestMs)).toEqual(expected);
    }),
  );
});
