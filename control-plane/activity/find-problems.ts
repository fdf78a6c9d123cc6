import type { DestinationHealth } from '../health/summarize-health.ts';
import type { DestinationBacklog } from '../health/log-figures.ts';

/** A problem that needs the operator's attention. */
export type Problem = {
  readonly level: 'bad' | 'warn';
  /** The subject: the id of a destination or a source; null for the installation. */
  readonly kind: 'destination' | 'source' | 'resolver' | 'process' | 'rule';
  readonly id: string | null;
  readonly name: string;
  readonly text: string;
};

/** The violations of one rule of the tracking plan in the last two hours. */
export type RuleViolations = {
  readonly rule: string;
  readonly name: string;
  readonly severity: string;
  readonly count: number;
};

export type LookedAt = {
  readonly sources: readonly {
    readonly id: string;
    readonly name: string;
    /** Events of the last 24 hours that the log did not store. */
    readonly lostLately: number;
  }[];
  readonly destinations: readonly {
    readonly id: string;
    readonly name: string;
    readonly isLive: boolean;
    readonly health: Pick<DestinationHealth, 'status' | 'successRate' | 'failureCount' | 'missed'>;
    /** Whether the platform refuses access, as with a wrong key or token. */
    readonly isAccessRefused: boolean;
    /** Outcomes of the destination's dispatches in the last 15 minutes. */
    readonly lately: { readonly succeeded: number; readonly failed: number };
    readonly backlog: DestinationBacklog;
    /** Warnings about its settings. */
    readonly warnings: readonly string[];
  }[];
  readonly violations: readonly RuleViolations[];
  readonly oldestUnresolvedMs: number | null;
  readonly pipelines: number;
  readonly gateways: number;
};

const lateMs = 60_000;

/** The problems, the worst first; empty if there are none. Pure. */
export function findProblems({
  sources,
  destinations,
  violations,
  oldestUnresolvedMs,
  pipelines,
  gateways,
}: LookedAt): Problem[] {
  const problems: Problem[] = [];
  const add = (
    level: Problem['level'],
    kind: Problem['kind'],
    name: string,
    text: string,
    id: string | null = null,
  ): void => void problems.push({ level, kind, id, name, text });
  if (gateways === 0) add('bad', 'process', 'Gateway', 'No gateway is running: no events are received.');
  if (pipelines === 0)
    add('bad', 'process', 'Pipeline', 'No pipeline is running: events are stored but not delivered.');
  if (oldestUnresolvedMs !== null && oldestUnresolvedMs > lateMs) {
    const text = `Events are resolved late: the oldest has waited ${Math.round(oldestUnresolvedMs / 1_000)} s.`;
    add('bad', 'resolver', 'Resolving', text);
  }
  for (const { id, name, lostLately } of sources) {
    if (lostLately === 0) continue;
    const [what, senders] =
      lostLately === 1 ? ['1 event was', 'its sender was'] : [`${lostLately} events were`, 'their senders were'];
    add('bad', 'source', name, `${what} not stored in the last 24 hours; ${senders} asked to retry.`, id);
  }
  for (const { id, name, isLive, health, isAccessRefused, lately, backlog, warnings } of destinations) {
    if (!isLive) continue;
    const percent = Math.round((health.successRate ?? 1) * 100);
    const failsNow = lately.failed > 0 && lately.failed >= lately.succeeded;
    if (isAccessRefused) {
      add(
        'bad',
        'destination',
        name,
        'The platform refuses access, as with a wrong key or token: events wait until it grants it.',
        id,
      );
    } else if (health.status === 'UNHEALTHY' || failsNow) {
      const text = failsNow
        ? `Failing: ${lately.failed} of ${lately.failed + lately.succeeded} attempts in the last 15 minutes failed.`
        : `${percent} % of its attempts in the last 24 hours succeeded.`;
      add('bad', 'destination', name, text, id);
    } else if (health.status === 'DEGRADED') {
      add('warn', 'destination', name, `${percent} % of its attempts in the last 24 hours succeeded.`, id);
    }
    if (health.missed.length > 0) add('warn', 'destination', name, 'It skipped events; its health lists them.', id);
    for (const warning of warnings) add('warn', 'destination', name, warning, id);
    if (backlog.deadLetters > 0) {
      const what = backlog.deadLetters === 1 ? '1 dead letter waits' : `${backlog.deadLetters} dead letters wait`;
      add('warn', 'destination', name, `${what} for a replay.`, id);
    }
  }
  for (const { rule, name, severity, count } of violations) {
    const text = `${count === 1 ? '1 violation' : `${count} violations`} in the last 2 hours.`;
    add(severity === 'Error' ? 'bad' : 'warn', 'rule', name, text, rule);
  }
  return problems.toSorted((a, b) => Number(a.level === 'warn') - Number(b.level === 'warn'));
}
