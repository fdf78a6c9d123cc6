import { showUnreadable } from '../../shared/collections/unreadable-entities.ts';
import type { UnreadableEntities } from '../../shared/collections/unreadable-entities.ts';
import { showLog } from '../../shared/nats/monitor/log-metrics.ts';
import type { LogSources } from '../../shared/nats/monitor/log-metrics.ts';
import { showProcess } from '../../shared/runtime/status/process-metrics.ts';
import type { ProcessSources } from '../../shared/runtime/status/process-metrics.ts';
import { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import type { BacklogWatch } from '../jobs/backlog/backlog-watch.ts';
import { showActors } from './show-actors.ts';
import { showBacklog } from './show-backlog.ts';
import type { Quotas } from './show-backlog.ts';
import { showThreads } from './show-threads.ts';
import type { ThreadSources } from './show-threads.ts';
import { showDestinations } from './shown-destinations.ts';
import type { PublishedDestination } from './shown-destinations.ts';

export type MetricsSources = Quotas &
  ThreadSources &
  LogSources &
  Omit<ProcessSources, 'component'> & {
    readonly unreadable: Pick<UnreadableEntities, 'count'>;
    readonly backlog: BacklogWatch;
    readonly destinationsMax: number;
    readonly destinations: () => readonly PublishedDestination[];
  };

/** The page of the process: the latest reports of its threads, and the state of the log. */
export function showMetrics(from: MetricsSources): MetricsPage {
  const { stats, destinationsMax, destinations, connection, logServers, clock, configRevision } = from;
  const page = new MetricsPage();
  const shown = showDestinations({ destinationsMax, stats, published: destinations });
  showProcess(page, { component: 'pipeline', clock, configRevision });
  showLog(page, { connection, logServers });
  showUnreadable(page, from.unreadable);
  showActors(page, stats, shown);
  showBacklog(page, from.backlog, from, shown);
  showThreads(page, from);
  return page;
}
