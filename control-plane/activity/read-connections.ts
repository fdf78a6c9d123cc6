import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { liveContent } from '../versions/version-store.ts';
import { reportSources } from '../health/delivery-report.ts';
import { noEvents } from '../health/delivery-report.ts';
import type { Funnel } from '../health/delivery-report.ts';
import type { LiveValues } from '../health/live-values.ts';
import { sumCounts, sumSourceSteps } from '../health/source-series.ts';
import { summarizeHealth } from '../health/summarize-health.ts';

export type ConnectionServices = { readonly storage: Storage; readonly liveValues: LiveValues; now(): Date };

const hours = 24;
const hourMs = 3_600_000;
/** Connections in one answer: each source may feed each destination. */
export const connectionsMax = 5_000;

/**
 * Which live source feeds which live destination, and the outcomes of its events in 24 hours. A destination that accepts
 * every source is listed with all of them, sources without events included.
 */
export async function readConnections({ storage, liveValues, now }: ConnectionServices, accountId: string) {
  const nowMs = now().getTime();
  const live = await liveContent(storage.fork(), accountId);
  const sources = live.sources.map((entity) => ({
    ...viewEntity(entity),
    events: sumCounts(sumSourceSteps(liveValues.sourceReports(entity.id), { nowMs, stepMinutes: 60, steps: hours }))
      .stored,
  }));
  const destinations = live.destinations.map((entity) => ({
    ...viewEntity(entity),
    health: summarizeHealth(liveValues.healthReports(entity.id), nowMs).status,
  }));
  const connections = live.destinations.flatMap((entity) => {
    const counted = reportSources(liveValues.deliveryReports(entity.id), nowMs - hours * hourMs);
    return live.sources
      .map(({ id }) => viewConnection(id, entity, counted.get(id)))
      .filter((one) => one.isAllowed || one.received > 0);
  });
  return {
    since: new Date(nowMs - hours * hourMs).toISOString(),
    sources,
    destinations,
    connections: connections.slice(0, connectionsMax),
    isComplete: connections.length <= connectionsMax,
  };
}

const viewEntity = (entity: SnapshotEntity) => ({
  id: entity.id,
  name: textOf(entity['name']) || textOf(entity['type']),
  type: textOf(entity['type']),
  isEnabled: entity['status'] === 'Enabled',
});

function viewConnection(sourceId: string, destination: SnapshotEntity, counted: Funnel | undefined) {
  const limited = destination['limitedToSourceIds'];
  const isAllowed = !Array.isArray(limited) || limited.length === 0 || limited.includes(sourceId);
  return { sourceId, destinationId: destination.id, isAllowed, ...(counted ?? noEvents()) };
}
