import { entityName, kindLabel } from '../../shared/collections/kind-labels.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { PageQuery, Paginator } from '../api/pagination.ts';
import { noEvents, reportSources } from '../health/delivery-report.ts';
import type { Funnel } from '../health/delivery-report.ts';
import type { LiveValues } from '../health/live-values.ts';
import { sumCounts, sumSourceSteps } from '../health/source-series.ts';
import { summarizeHealth } from '../health/summarize-health.ts';
import { isAccessRefused } from '../health/view-sending.ts';
import { liveContent } from '../versions/version-store.ts';

export type ConnectionServices = {
  readonly storage: Storage;
  readonly paginator: Paginator;
  readonly liveValues: LiveValues;
  now(): Date;
};

type Connection = {
  readonly source: SnapshotEntity;
  readonly destination: SnapshotEntity;
  readonly isAllowed: boolean;
  readonly counted: Funnel;
};

const hours = 24;
const hourMs = 3_600_000;
/**
 * Maximum number of sources, and of destinations, that are listed with the connections: a larger diagram is not
 * readable.
 */
export const endsMax = 25;

/**
 * A page of connections. Each live source is connected with each live destination that accepts its events, even if
 * there was no event; a connection has the outcomes of its events in the last 24 hours.
 */
export async function listConnections(
  { storage, paginator, liveValues, now }: ConnectionServices,
  accountId: string,
  query: PageQuery,
) {
  const list = { list: 'connections', accountId, filters: {} };
  const { limit, after } = paginator.read(query, list);
  const nowMs = now().getTime();
  const live = await liveContent(storage.fork(), accountId);
  const viewSource = (entity: SnapshotEntity) => {
    const steps = sumSourceSteps(liveValues.sourceReports(entity.id), { nowMs, stepMinutes: 60, steps: hours });
    return { ...viewEntity('sources', entity), events: sumCounts(steps).stored };
  };
  const viewDestination = (entity: SnapshotEntity) => {
    const reports = liveValues.healthReports(entity.id);
    const health = summarizeHealth(reports, nowMs).status;
    return { ...viewEntity('destinations', entity), health, isAccessRefused: isAccessRefused(reports) };
  };
  const sinceMs = nowMs - hours * hourMs;
  const sources = live.sources.toSorted(byId);
  const destinations = live.destinations.toSorted(byId);
  const [afterDestination = '', afterSource = ''] = after?.map(String) ?? [];
  const rows: Connection[] = [];
  for (const destination of destinations) {
    if (destination.id < afterDestination) continue;
    if (rows.length > limit) break;
    const counted = reportSources(liveValues.deliveryReports(destination.id), sinceMs);
    for (const source of sources) {
      if (destination.id === afterDestination && source.id <= afterSource) continue;
      const own = counted.get(source.id);
      const isAllowed = accepts(destination, source.id);
      if (isAllowed || (own?.received ?? 0) > 0) {
        rows.push({ source, destination, isAllowed, counted: own ?? noEvents() });
      }
    }
  }
  const page = paginator.page(
    list,
    limit,
    rows,
    ({ source, destination }) => [destination.id, source.id],
    ({ source, destination, isAllowed, counted }) => ({
      source: viewSource(source),
      destination: viewDestination(destination),
      isAllowed,
      ...counted,
    }),
  );
  return {
    ...page,
    since: new Date(sinceMs).toISOString(),
    totals: { sources: sources.length, destinations: destinations.length },
    sources: sources.slice(0, endsMax).map(viewSource),
    destinations: destinations.slice(0, endsMax).map(viewDestination),
  };
}

const viewEntity = (collection: 'sources' | 'destinations', entity: SnapshotEntity) => ({
  id: entity.id,
  name: entityName(collection, entity),
  label: kindLabel(collection, entity['type']) ?? '',
  isEnabled: entity['status'] === 'Enabled',
});

function accepts(destination: SnapshotEntity, sourceId: string): boolean {
  const limited = destination['limitedToSourceIds'];
  return !Array.isArray(limited) || limited.length === 0 || limited.includes(sourceId);
}

function byId(a: SnapshotEntity, b: SnapshotEntity): number {
  return a.id < b.id ? -1 : 1;
}
