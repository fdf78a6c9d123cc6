import { expect, test } from 'vitest';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';
import { summarizeHealth } from './summarize-health.ts';

const nowMs = Date.parse('2030-01-02T03:04:30.000Z');
const minute = Math.floor(nowMs / 60_000);
const report = (succeeded: number, failed: number, stopped = 0, globalStop = 0, at = minute): HealthRecord => ({
  v: 1,
  minutes: [[at, succeeded, failed, stopped, globalStop]],
  lastDispatchedAt: at * 60_000,
});

test.each([
  [0, 0, 'NO_DATA', null],
  [1, 0, 'HEALTHY', 1],
  [95, 5, 'HEALTHY', 0.95],
  [949, 51, 'DEGRADED', 0.949],
  [50, 50, 'DEGRADED', 0.5],
  [499, 501, 'UNHEALTHY', 0.499],
  [0, 1, 'UNHEALTHY', 0],
])('health: %i succeeded and %i failed is %s', (succeeded, failed, status, successRate) => {
  const health = summarizeHealth([report(succeeded, failed)], nowMs);
  expect(health).toMatchObject({ status, successRate, successCount: succeeded, failureCount: failed });
});

test('health: stopped dispatches count as attempts and as neither success nor failure', () => {
  const health = summarizeHealth([report(0, 0, 3, 4)], nowMs);
  expect(health).toMatchObject({
    status: 'NO_DATA',
    totalDispatches: 7,
    stoppedCount: 3,
    globalStopCount: 4,
    successRate: null,
  });
});

test('health: counts the last 1440 minutes, including the current minute', () => {
  const counted = (at: number): number => summarizeHealth([report(1, 0, 0, 0, at)], nowMs).successCount;
  expect([counted(minute), counted(minute - 1_439), counted(minute - 1_440)]).toEqual([1, 1, 0]);
});

test('health: the last attempt is the newest of any instance, even if it was before the window', () => {
  const old = report(1, 0, 0, 0, minute - 10_000);
  expect(summarizeHealth([old], nowMs).lastDispatchedAt).toBe(new Date((minute - 10_000) * 60_000).toISOString());
  expect(summarizeHealth([old, report(1, 0)], nowMs).lastDispatchedAt).toBe('2030-01-02T03:04:00.000Z');
  expect(summarizeHealth([], nowMs)).toMatchObject({
    lastDispatchedAt: null,
    windowStart: '2030-01-01T03:04:30.000Z',
    windowEnd: '2030-01-02T03:04:30.000Z',
  });
});

test('health: the status follows the success rate, also of a destination that refuses its key', () => {
  const refused = (succeeded: number) => ({ ...report(succeeded, 0), accessRefused: true }) as const;
  expect(summarizeHealth([refused(100)], nowMs)).toMatchObject({ status: 'HEALTHY', successRate: 1 });
  expect(summarizeHealth([refused(0)], nowMs)).toMatchObject({ status: 'NO_DATA', successRate: null });
});

test('health: skipped ranges of all instances are shown by reason, and ranges of earlier builds without a reason', () => {
  const [from, to] = [nowMs - 7_200_000, nowMs - 3_600_000];
  const range = (own: number, events: number) => [from + own, to + own, events] as const;
  const reports = [
    { ...report(1, 0), skipped: { retention: [range(0, 20)], dead_letters_full: [range(3, 1)] } },
    { ...report(1, 0), skipped: { retention: [range(1, 5)] } },
    { ...report(1, 0), missed: [range(2, 7)] },
  ];
  const shown = (own: number, end: number, events: number, reason: string | null) => ({
    from: new Date(from + own).toISOString(),
    to: new Date(to + end).toISOString(),
    events,
    reason,
  });
  expect(summarizeHealth(reports, nowMs).missed).toEqual([
    shown(0, 1, 25, 'retention'),
    shown(2, 2, 7, null),
    shown(3, 3, 1, 'dead_letters_full'),
  ]);
  expect(summarizeHealth([report(1, 0)], nowMs).missed).toEqual([]);
});
