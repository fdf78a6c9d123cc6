import { sourceLabel } from '../../shared/collections/kind-labels.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { firstStep, sumHealthSteps } from '../health/health-series.ts';
import { longestLags } from '../health/lag-series.ts';
import type { LiveValues } from '../health/live-values.ts';
import type { LogFigures } from '../health/log-figures.ts';
import { hasStoredEvent, sumCounts, sumSourceSteps } from '../health/source-series.ts';
import type { LeaseCache } from '../publishing/publishing-service.ts';
import { viewInvalid } from '../sources/source-view.ts';
import { diffSnapshots } from '../versions/diff.ts';
import { findVersion, liveContent } from '../versions/version-store.ts';
import { viewVersion } from '../versions/version-view.ts';
import { withoutDraftExperiments } from '../draft/snapshot.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { planParts, readLoudViolations } from '../tracking-plan/read-violations.ts';
import { findProblems } from './find-problems.ts';
import { sumSteps, summarizeDestinations, union, urgencyOf } from './summarize-destinations.ts';

/** Ranges of an overview, with their steps. */
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

export type ActivityQuery = {
  readonly range: ActivityRange;
  /** Maximum number of destinations, of sources and of problems; undefined for no maximum. */
  readonly top: number | undefined;
};

/** Events received, events sent, and problems of one account. */
export async function readActivity(services: ActivityServices, accountId: string, { range, top }: ActivityQuery) {
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
  const destinations = summarizeDestinations({ draft, live }, { liveValues, figures, nowMs }).map((one) => {
    const points = sumHealthSteps(liveValues.healthReports(one.id), stepRange);
    return {
      ...one,
      inRange: sumSteps(points),
      succeeded: points.map((point) => point.succeeded),
      failed: points.map((point) => point.failed),
    };
  });
  const liveSources = new Set(live.sources.flatMap(({ id, status }) => (status === 'Enabled' ? [id] : [])));
  const sources = union(draft.sources, live.sources).map((entity) => {
    const counted = sumSourceSteps(liveValues.sourceReports(entity.id), stepRange);
    const { stored, test, ...refused } = sumCounts(counted);
    const lastMs = liveValues.lastTriggeredAt(entity.id);
    const type = textOf(entity['type']);
    const label = sourceLabel(type);
    return {
      id: entity.id,
      name: textOf(entity['name']) || label,
      type,
      label,
      isLive: liveSources.has(entity.id),
      events: counted.map((step) => step.stored),
      total: stored,
      testTotal: test,
      refused,
      lastInvalid: viewInvalid(liveValues.lastInvalid(entity.id)),
      lastTriggeredAt: lastMs === null ? null : new Date(lastMs).toISOString(),
    };
  });
  const parts = planParts(live);
  // The counts go back a week, so that a source without recent events counts by its last delivery.
  const usedSources = sources.filter(
    ({ id }) => hasStoredEvent(liveValues.sourceReports(id)) || liveValues.lastDispatchedAt(id) !== null,
  ).length;
  const violations = broken.map((one) => ({ ...one, name: parts.get(one.rule)?.ruleName ?? one.rule }));
  const alive = [...leases.entries.values()].filter(
    ({ receivedAtMs }) => performance.now() - receivedAtMs < leaseTtlMs,
  );
  const aliveOf = (kind: string): number => alive.filter(({ value }) => value.kind === kind).length;
  const processes = { gateways: aliveOf('gateway'), pipelines: aliveOf('pipeline') };
  const oldestUnresolvedMs = oldestOf(figures);
  const lostLately = (sourceId: string): number =>
    sumCounts(sumSourceSteps(liveValues.sourceReports(sourceId), { nowMs, ...activityRanges['24h'] })).lost;
  const problems = findProblems({
    sources: sources.map(({ id, name }) => ({ id, name, lostLately: lostLately(id) })),
    destinations,
    violations,
    oldestUnresolvedMs,
    ...processes,
  });
  return {
    range,
    firstStepAt: new Date(firstStep(stepRange) * stepMs).toISOString(),
    stepMs,
    steps,
    totals: { ...totalsOf(sources, destinations, problems.length), usedSources },
    problems: problems.slice(0, top),
    sources: top === undefined ? sources : sources.toSorted((a, b) => b.total - a.total).slice(0, top),
    destinations:
      top === undefined
        ? destinations
        : destinations
            .toSorted((a, b) => urgencyOf(b) - urgencyOf(a) || b.inRange.failed - a.inRange.failed)
            .slice(0, top),
    oldestUnresolvedMs,
    resolveLagMs: longestLags(liveValues.lagReports(), stepRange),
    ...processes,
    live: version === undefined ? null : viewVersion(version, liveId),
    draftChanges: diffSnapshots(live, withoutDraftExperiments(draft)).count,
  };
}

function oldestOf({ partitions }: Pick<LogFigures, 'partitions'>): number | null {
  const waiting = partitions.flatMap(({ oldestMs }) => oldestMs ?? []);
  return waiting.length === 0 ? null : Math.max(...waiting);
}

type SourceFigures = {
  readonly isLive: boolean;
  readonly total: number;
  readonly refused: Readonly<Record<string, number>>;
};
type DestinationFigures = {
  readonly isLive: boolean;
  readonly inRange: { readonly succeeded: number; readonly failed: number };
};

function totalsOf(sources: readonly SourceFigures[], destinations: readonly DestinationFigures[], problems: number) {
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  return {
    problems,
    sources: sources.length,
    liveSources: sources.filter(({ isLive }) => isLive).length,
    sendingSources: sources.filter(({ total }) => total > 0).length,
    events: sum(sources.map(({ total }) => total)),
    refused: sum(sources.flatMap(({ refused }) => Object.values(refused))),
    destinations: destinations.length,
    liveDestinations: destinations.filter(({ isLive }) => isLive).length,
    succeeded: sum(destinations.map(({ inRange }) => inRange.succeeded)),
    failed: sum(destinations.map(({ inRange }) => inRange.failed)),
  };
}
