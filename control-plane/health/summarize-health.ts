import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { joinMissed, joinSkipped, skipReasons } from '../../shared/contracts/missed-ranges.ts';
import type { MissedRange, SkipReason } from '../../shared/contracts/missed-ranges.ts';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });

export const healthReply = Type.Object({
  status: Type.Enum(['HEALTHY', 'DEGRADED', 'UNHEALTHY', 'NO_DATA']),
  windowStart: instant,
  windowEnd: instant,
  totalDispatches: count,
  successCount: count,
  failureCount: count,
  stoppedCount: { ...count, description: 'Events stopped by a mapping, consent, an erasure or the platform.' },
  globalStopCount: { ...count, description: 'Events stopped by a dispatch rule of the account.' },
  successRate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  lastDispatchedAt: nullable(instant),
  missed: Type.Array(
    Type.Object({
      from: instant,
      to: instant,
      events: Type.Integer({
        minimum: 1,
        description: 'Events of the account that were resolved in this range, for the destination or not.',
      }),
      reason: nullable(
        Type.Enum([...skipReasons], {
          description:
            'retention: they waited too long or exceeded the quota of the account. position_lost: the position of the ' +
            'destination was missing. event_removed: a retry was due after its event had left the log. ' +
            'dead_letters_full: the dead letters had no room. null if an earlier version recorded it.',
        }),
      ),
    }),
    {
      description:
        'Ranges that were skipped for the destination. A replay of the log from `from` to `to` sends their events, as long as ' +
        'the log keeps them.',
    },
  ),
});

export type DestinationHealth = Readonly<Static<typeof healthReply>>;

const minuteMs = 60_000;
const windowMinutes = 24 * 60;

/** Sums the reports of all instances over the 24 hours before `nowMs`. Pure. */
export function summarizeHealth(reports: readonly HealthRecord[], nowMs: number): DestinationHealth {
  const nowMinute = Math.floor(nowMs / minuteMs);
  const sums = { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };
  let lastDispatchedAtMs = -Infinity;
  for (const report of reports) {
    lastDispatchedAtMs = Math.max(lastDispatchedAtMs, report.lastDispatchedAt ?? -Infinity);
    for (const [minute, succeeded, failed, stopped, globalStop] of report.minutes) {
      if (minute <= nowMinute - windowMinutes) continue;
      sums.succeeded += succeeded;
      sums.failed += failed;
      sums.stopped += stopped;
      sums.globalStop += globalStop;
    }
  }
  const decisive = sums.succeeded + sums.failed;
  const successRate = decisive === 0 ? null : sums.succeeded / decisive;
  return {
    status: statusOf(successRate),
    windowStart: new Date(nowMs - windowMinutes * minuteMs).toISOString(),
    windowEnd: new Date(nowMs).toISOString(),
    totalDispatches: decisive + sums.stopped + sums.globalStop,
    successCount: sums.succeeded,
    failureCount: sums.failed,
    stoppedCount: sums.stopped,
    globalStopCount: sums.globalStop,
    successRate,
    lastDispatchedAt: Number.isFinite(lastDispatchedAtMs) ? new Date(lastDispatchedAtMs).toISOString() : null,
    missed: viewSkipped(reports),
  };
}

function viewSkipped(reports: readonly HealthRecord[]): DestinationHealth['missed'] {
  const skipped = joinSkipped(reports.map((report) => report.skipped ?? {}));
  const earlier = joinMissed(reports.flatMap(({ missed = [] }) => missed));
  const view =
    (reason: SkipReason | null) =>
    ([fromMs, toMs, events]: MissedRange) => ({
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      events,
      reason,
    });
  const all = [
    ...earlier.map(view(null)),
    ...skipReasons.flatMap((reason) => (skipped[reason] ?? []).map(view(reason))),
  ];
  return all.toSorted((a, b) => (a.from < b.from ? -1 : 1));
}

function statusOf(successRate: number | null): DestinationHealth['status'] {
  if (successRate === null) return 'NO_DATA';
  if (successRate >= 0.95) return 'HEALTHY';
  return successRate >= 0.5 ? 'DEGRADED' : 'UNHEALTHY';
}
