import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { firstStep, sumHealthSteps } from '../health/health-series.ts';
import { longestLags } from '../health/lag-series.ts';
import type { LiveValues } from '../health/live-values.ts';
import type { LogFigures } from '../health/log-figures.ts';
import { sumCounts, sumSourceSteps } from '../health/source-series.ts';
import { summarizeHealth } from '../health/summarize-health.ts';
import type { LeaseCache } from '../publishing/publishing-service.ts';
import { diffSnapshots } from '../versions/diff.ts';
import { findVersion, liveContent } from '../versions/version-store.ts';
import { viewVersion } from '../versions/version-view.ts';
import { withoutDraftExperiments } from '../draft/snapshot.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { readLoudViolations, ruleNames } from '../tracking-plan/read-violations.ts';
import { findProblems } from './find-problems.ts';

/** How far a look goes back, and in what steps. */
export const activityRanges = {
  '15m': { stepMinutes: 1, steps: 15 },
  '24h': { stepMinutes: 60, steps: 24 },
  '7d': { stepMinutes: 360, steps: 28 },
} as const;

export type ActivityRange = keyof typeof activityRanges;

export type ActivityServices = {
  /** PostgreSQL without the ORM. */
  readonly pool: Queryable;
  readonly storage: Storage;
  readonly liveValues: LiveValues;
  readonly leases: LeaseCache;
  readonly logFigures: { read(): Promise<LogFigures> };
  now(): Date;
};

const minuteMs = 60_000;
const noWarnings: readonly string[] = [];

/** What comes in, what goes out and what is not well, of one account. */
export async function readActivity(services: ActivityServices, accountId: string, range: ActivityRange) {
  const { storage, liveValues, leases, now } = services;
  const { stepMinutes, steps } = activityRanges[range];
  const nowMs = now().getTime();
  const stepRange = { nowMs, stepMinutes, steps };
  const stepMs = stepMinutes * minuteMs;
  const em = storage.fork();
  const [draft, live, liveId, figures, broken] = await Promise.all([
    loadDraft(em, accountId),
    liveContent(storage.fork(), accountId),
    liveVersionId(storage.fork(), accountId),
    services.logFigures.read(),
    readLoudViolations(services.pool, accountId, now()),
  ]);
  const version = liveId === undefined ? undefined : await findVersion(em, accountId, liveId);
  const destinations = union(draft.destinations, live.destinations).map((entity) => {
    const reports = liveValues.healthReports(entity.id);
    const health = summarizeHealth(reports, nowMs);
    const lately = sum(sumHealthSteps(reports, { nowMs, stepMinutes: 1, steps: 15 }));
    const liveEntity = live.destinations.find(({ id }) => id === entity.id);
    const points = sumHealthSteps(reports, stepRange);
    const settings = liveEntity?.['settings'];
    return {
      id: entity.id,
      name: nameOf(entity),
      type: textOf(entity['type']),
      status: textOf(entity['status']),
      isLive: liveEntity?.['status'] === 'Enabled',
      health,
      lately,
      inRange: sum(points),
      succeeded: points.map((point) => point.succeeded),
      failed: points.map((point) => point.failed),
      backlog: figures.backlogOf(entity.id),
      warnings:
        findDestinationKind(textOf(entity['type']))?.warnings(isJsonObject(settings) ? settings : {}) ?? noWarnings,
    };
  });
  const sources = union(draft.sources, live.sources).map((entity) => {
    const counted = sumSourceSteps(liveValues.sourceReports(entity.id), stepRange);
    const { stored, test, ...refused } = sumCounts(counted);
    const lastMs = liveValues.lastTriggeredAt(entity.id);
    return {
      id: entity.id,
      name: nameOf(entity),
      type: textOf(entity['type']),
      isLive: live.sources.some((one) => one.id === entity.id && one['status'] === 'Enabled'),
      events: counted.map((step) => step.stored),
      total: stored,
      testTotal: test,
      refused,
      lastTriggeredAt: lastMs === null ? null : new Date(lastMs).toISOString(),
    };
  });
  const names = ruleNames(live);
  const violations = broken.map((one) => ({ ...one, name: names.get(one.rule) ?? one.rule }));
  const alive = [...leases.entries.values()].filter(
    ({ receivedAtMs }) => performance.now() - receivedAtMs < leaseTtlMs,
  );
  const aliveOf = (kind: string): number => alive.filter(({ value }) => value.kind === kind).length;
  const processes = { gateways: aliveOf('gateway'), pipelines: aliveOf('pipeline') };
  const waiting = figures.partitions.map(({ oldestMs }) => oldestMs ?? -1);
  const oldest = Math.max(-1, ...waiting);
  const oldestUnresolvedMs = oldest < 0 ? null : oldest;
  return {
    range,
    firstStepAt: new Date(firstStep(stepRange) * stepMs).toISOString(),
    stepMs,
    steps,
    problems: findProblems({ destinations, violations, oldestUnresolvedMs, ...processes }),
    sources,
    destinations,
    oldestUnresolvedMs,
    resolveLagMs: longestLags(liveValues.lagReports(), stepRange),
    ...processes,
    live: version === undefined ? null : viewVersion(version, liveId),
    draftChanges: diffSnapshots(live, withoutDraftExperiments(draft)).count,
  };
}

function union(draft: readonly SnapshotEntity[], live: readonly SnapshotEntity[]): SnapshotEntity[] {
  const known = new Set(draft.map(({ id }) => id));
  return [...draft, ...live.filter(({ id }) => !known.has(id))];
}

function nameOf(entity: SnapshotEntity): string {
  return textOf(entity['name']) || textOf(entity['type']);
}

function sum(steps: ReturnType<typeof sumHealthSteps>) {
  const total = { succeeded: 0, failed: 0, stopped: 0, blocked: 0 };
  for (const step of steps) {
    total.succeeded += step.succeeded;
    total.failed += step.failed;
    total.stopped += step.stopped;
    total.blocked += step.blocked;
  }
  return total;
}
