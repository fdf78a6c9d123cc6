import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { ensureTopology } from '../../shared/nats/streams/topology.ts';
import type { TopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** The log as the control plane uses it: its buckets, opened again whenever the server may have lost them. */
export type LogBuckets = {
  readonly connection: LogConnection;
  readonly buckets: Buckets;
  /** Number of partitions for accepted events; fixed when the log was created. */
  readonly partitions: number;
  /** Creates missing streams and buckets of the log and opens the buckets again. */
  reopen(): Promise<void>;
  stop(): void;
};

export type LogLinkOptions = {
  readonly connection: LogConnection;
  readonly topology: TopologySettings;
  /** Deployment that the database belongs to; the log must belong to the same one. */
  readonly deploymentId: string | undefined;
  readonly logger: Logger;
  /** Called with the buckets at the start and each time they are reopened. */
  onOpened(buckets: Buckets): Promise<void>;
};

/** Creates the log's streams and buckets, and creates them again when a server returns without them. */
export async function openLogBuckets(options: LogLinkOptions): Promise<LogBuckets> {
  const { connection, topology, deploymentId, logger } = options;
  let partitions = topology.partitions;
  const open = async (): Promise<Buckets> => {
    const { created, partitions: inForce } = await ensureTopology(connection, topology, deploymentId);
    partitions = inForce;
    if (created.length > 0) logger.warn({ created }, 'created missing streams: the log was empty');
    const opened = await openBuckets(connection, topology.replicas);
    await options.onOpened(opened);
    return opened;
  };
  let buckets = await open();
  let reopening: Promise<void> | undefined;
  const reopen = (): Promise<void> => {
    reopening ??= (async () => {
      try {
        buckets = await open();
      } finally {
        reopening = undefined;
      }
    })();
    return reopening;
  };
  const offReconnect = connection.onReconnect(() => {
    reopen().catch((error: unknown) => logger.warn({ err: error }, 'reopening the log failed'));
  });
  return {
    connection,
    get buckets() {
      return buckets;
    },
    get partitions() {
      return partitions;
    },
    reopen,
    stop: offReconnect,
  };
}
