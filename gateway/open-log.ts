import { claimInstanceId } from '../shared/nats/buckets/instance-claim.ts';
import { connectLog } from '../shared/nats/connection/connection.ts';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import { openGatewayBuckets, openLeases } from '../shared/nats/buckets/open-buckets.ts';
import { ensureTopology, refuseFewerCopies, streams } from '../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../shared/nats/streams/topology-settings.ts';
import type { InstanceHolder } from '../shared/contracts/process-report.ts';
import { createConfigTrust } from '../shared/contracts/config/signed-config.ts';
import type { ConfigTrust } from '../shared/contracts/config/signed-config.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import type { GatewayEnv } from './env.ts';
import { readEventBytesMax } from './routes/routes-settings.ts';
import { endProcess, stepMs } from './end-process.ts';
import type { SourceFeed } from './ingest/follow-sources.ts';
import { afterReconnect } from '../shared/nats/connection/after-reconnect.ts';
import type { LogConnection } from '../shared/nats/connection/connection.ts';
import type { TopologySettings } from '../shared/nats/streams/topology-settings.ts';

/** Other streams may be missing if gateways are upgraded first: the services that create them are upgraded later. */
const streamsNeeded = [streams.ingest, streams.canary];

export type OpenedLog = {
  readonly connection: LogConnection;
  readonly buckets: Awaited<ReturnType<typeof openGatewayBuckets>>;
  readonly instance: { readonly kind: 'gateway'; readonly instanceId: string };
  readonly holder: InstanceHolder;
  readonly trust: ConfigTrust;
  readonly topology: TopologySettings;
  readonly partitions: number;
};

/** Connects to the log and claims the name of this instance there. */
export async function openLog(env: GatewayEnv, instanceId: string, logger: Logger, scope: Scope): Promise<OpenedLog> {
  const trust = createConfigTrust(env);
  const connection = scope.use('log', await connectLog({ ...logAccess(env), name: instanceId }), (log) =>
    log.close(stepMs),
  );
  // Not awaited: neither the check nor its code delays the start.
  void import('../shared/doctor/check-at-start.ts').then(({ checkAtStart }) =>
    checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger }),
  );
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  const instance = { kind: 'gateway', instanceId } as const;
  const holder = await claimInstanceId(await openLeases(connection, env.LOG_REPLICAS), instance);
  const topology = readTopologySettings(env);
  const { partitions } = await ensureTopology(connection, topology, undefined, streamsNeeded);
  const buckets = await openGatewayBuckets(connection, env.LOG_REPLICAS);
  const { messageBytesMax } = connection;
  if (readEventBytesMax(env, messageBytesMax) < env.TRACK_BODY_BYTES_MAX) {
    logger.warn({ messageBytesMax }, 'bodies are limited below TRACK_BODY_BYTES_MAX by max_payload of the log');
  }
  return { connection, buckets, instance, holder, trust, topology, partitions };
}

/** Creates streams that are missing after a reconnect, and reads the configuration again. */
export function reopenAfterReconnect(
  { connection, topology, partitions }: OpenedLog,
  feed: SourceFeed,
  logger: Logger,
  scope: Scope,
): void {
  const reopening = afterReconnect(
    connection,
    async () => {
      const found = await ensureTopology(connection, topology, undefined, streamsNeeded);
      if (found.created.length > 0) logger.error({ created: found.created }, 'the log came back without its streams');
      if (found.partitions !== partitions) {
        logger.fatal({ from: partitions, to: found.partitions }, 'the number of partitions of the log has changed');
        await endProcess('partitions changed', scope);
      }
      await feed.restart();
    },
    (error) => logger.warn({ err: error }, 'reopening the log failed'),
  );
  scope.use('reopening', reopening, (one) => one.stop());
}
