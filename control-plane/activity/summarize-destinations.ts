import { destinationLabel } from '../../shared/collections/kind-labels.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { sumHealthSteps } from '../health/health-series.ts';
import type { HealthStep } from '../health/health-series.ts';
import type { LiveValues } from '../health/live-values.ts';
import type { DestinationBacklog, LogFigures } from '../health/log-figures.ts';
import { summarizeHealth } from '../health/summarize-health.ts';
import type { DestinationHealth } from '../health/summarize-health.ts';
import { isAccessRefused } from '../health/view-sending.ts';

/** One destination as the list of destinations shows it: health, recent outcomes, backlog and warnings. */
export type DestinationSummary = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** The name of its kind. */
  readonly label: string;
  readonly status: string;
  /** Whether the live version contains the destination and it is enabled there. */
  readonly isLive: boolean;
  readonly health: DestinationHealth;
  /** Whether the platform refuses access, as with a wrong key or token. */
  readonly isAccessRefused: boolean;
  /** Outcomes of its dispatches in the last 15 minutes. */
  readonly lately: Omit<HealthStep, 'at'>;
  readonly backlog: DestinationBacklog;
  readonly warnings: readonly string[];
};

export type Configured = Readonly<Record<'draft' | 'live', Pick<Snapshot, 'destinations'>>>;

const noWarnings: readonly string[] = [];

/** Each destination of the draft or the live version, destinations of the draft first. */
export function summarizeDestinations(
  { draft, live }: Configured,
  {
    liveValues,
    figures,
    nowMs,
  }: { readonly liveValues: LiveValues; readonly figures: LogFigures; readonly nowMs: number },
): DestinationSummary[] {
  const liveById = new Map(live.destinations.map((one) => [one.id, one]));
  return union(draft.destinations, live.destinations).map((entity) => {
    const reports = liveValues.healthReports(entity.id);
    const liveEntity = liveById.get(entity.id);
    const settings = liveEntity?.['settings'];
    const type = textOf(entity['type']);
    const kind = findDestinationKind(type);
    const label = destinationLabel(type);
    return {
      id: entity.id,
      name: textOf(entity['name']) || label,
      type,
      label,
      status: textOf(entity['status']),
      isLive: liveEntity?.['status'] === 'Enabled',
      health: summarizeHealth(reports, nowMs),
      isAccessRefused: isAccessRefused(reports),
      lately: sumSteps(sumHealthSteps(reports, { nowMs, stepMinutes: 1, steps: 15 })),
      backlog: figures.backlogOf(entity.id),
      warnings: kind?.warnings(isJsonObject(settings) ? settings : {}) ?? noWarnings,
    };
  });
}

/** How urgently a destination needs attention, up to 4; below 0 if it is not live. Pure. */
export function urgencyOf({
  isLive,
  health,
  isAccessRefused,
  backlog,
  lately,
}: Pick<DestinationSummary, 'isLive' | 'health' | 'isAccessRefused' | 'backlog' | 'lately'>): number {
  if (!isLive) return -1;
  if (isAccessRefused) return 4;
  const byStatus = { UNHEALTHY: 4, DEGRADED: 3, NO_DATA: 0, HEALTHY: 0 }[health.status];
  return Math.max(byStatus, lately.failed > 0 ? 2 : 0, backlog.deadLetters + backlog.retryingFrames > 0 ? 1 : 0);
}

export function union(draft: readonly SnapshotEntity[], live: readonly SnapshotEntity[]): SnapshotEntity[] {
  const known = new Set(draft.map(({ id }) => id));
  return [...draft, ...live.filter(({ id }) => !known.has(id))];
}

export function sumSteps(steps: readonly HealthStep[]): Omit<HealthStep, 'at'> {
  const total = { succeeded: 0, failed: 0, stopped: 0, blocked: 0 };
  for (const step of steps) {
    total.succeeded += step.succeeded;
    total.failed += step.failed;
    total.stopped += step.stopped;
    total.blocked += step.blocked;
  }
  return total;
}
