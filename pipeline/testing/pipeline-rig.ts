import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { envelopeHead, envelopePrefix } from '../../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { logAccess } from '../../shared/nats/connection/log-access.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { accountKey, ingestSubject } from '../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../shared/nats/streams/topology.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { createScope } from '../../shared/runtime/scope.ts';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';
import { publishWithRetry } from '../../shared/nats/publish/publisher.ts';
import { readPipelineEnv } from '../env.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { startPipeline } from '../start-pipeline.ts';
import type { RunningPipeline } from '../start-pipeline.ts';
import { accountConfig } from './account-config.ts';
import type { TestCollections } from '../../shared/testing/test-account-config.ts';
import { asDatabaseRole } from '../../shared/testing/as-database-role.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { until } from '../../shared/testing/until.ts';

export type TestTrack = {
  readonly id: string;
  readonly visitor?: string;
  readonly event?: string;
  readonly properties?: JsonObject;
};

/** For tests that kill a pipeline: messages that were in flight are redelivered soon, perhaps twice. */
export const soonAgain = { DISPATCH_ACK_WAIT_MS: '1000', RESOLVER_ACK_WAIT_MS: '1000' } as const;

/** A log, a database and configurations for tests of the whole pipeline; starts pipelines in this process. */
export async function createPipelineRig(
  natsUrl: string,
  databaseUrl: string,
  own: Readonly<Record<string, string>> = {},
) {
  const variables = {
    NATS_URL: asLogUser(natsUrl, 'pipeline'),
    DATABASE_URL: await asDatabaseRole(databaseUrl, 'pipeline'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    PIPELINE_METRICS_PORT: '0',
    INSTANCE_ID: 'test',
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'silent',
    LOG_PARTITIONS: '2',
    // Each thread loads all modules; tests of several threads ask for them.
    PIPELINE_THREADS: '1',
    // On a busy machine a shorter wait would redeliver messages that are still being processed.
    DISPATCH_ACK_WAIT_MS: '30000',
    RESOLVER_ACK_WAIT_MS: '30000',
    ...own,
  };
  const env = readPipelineEnv(variables);
  const connection = await connectLog({ ...logAccess(env), url: natsUrl, name: 'test' });
  const { partitions } = await ensureTopology(connection, readTopologySettings(env));
  const { config, health, leases } = await openBuckets(connection, env.LOG_REPLICAS);
  const logger = pino({ level: 'silent' });
  return {
    connection,
    /** The environment of this rig's pipelines. */
    variables,
    /** Starts a pipeline and waits until it is ready. */
    async start(instanceId = 'test') {
      const scope = createScope(logger, 20_000);
      const pipeline = await startPipeline({ ...env, INSTANCE_ID: instanceId }, logger, scope);
      await until('the pipeline is ready', () => isReady(pipeline));
      return { ...pipeline, stop: () => scope.end('test') };
    },
    /** Publishes an account's configuration, as the control plane does; returns its revision. */
    configure: (accountId: string, collections: TestCollections, publishedAtMs?: number) =>
      config.put(
        accountKey(accountId),
        Buffer.from(JSON.stringify(accountConfig(accountId, collections, publishedAtMs))),
      ),
    /** Counts of a destination, summed over all instances: succeeded, failed, stopped and globalStop. */
    async counted(destinationId: string): Promise<readonly number[]> {
      const sums = [0, 0, 0, 0];
      for (const key of await health.keys(`destination.${destinationId}.*`)) {
        const entry = await health.get(key);
        const record = JSON.parse(Buffer.from(entry?.value ?? []).toString('utf8')) as HealthRecord;
        for (const [, ...counts] of record.minutes) counts.forEach((count, i) => (sums[i] = (sums[i] ?? 0) + count));
      }
      return sums;
    },
    /** The pipelines that hold a lease. */
    instances: () => leases.keys('pipeline.*'),
    /** The revision of the configuration that the pipeline reports as applied. */
    async reported(): Promise<number> {
      const entry = await leases.get('pipeline.test');
      if (entry?.value === undefined) return 0;
      return (JSON.parse(Buffer.from(entry.value).toString()) as { revision: number }).revision;
    },
    /** Puts accepted events into one frame of the ingest log, as the gateway does. */
    async accept(accountId: string, events: readonly TestTrack[], partition = 0) {
      const prefix = envelopePrefix({ account: accountId, source: 'source-1', test: false });
      const writer = new FrameWriter();
      for (const { id, visitor = 'v', event = 'Order', properties } of events) {
        const body = Buffer.from(JSON.stringify({ event, externalId: visitor, properties }));
        writer.appendEnvelope(envelopeHead(prefix, { kind: 'track', id, at: Date.now() }), body);
      }
      const message = { subject: ingestSubject(partition % partitions), payload: writer.bytes(), msgId: randomUUID() };
      // Retries while a server is down, as clients of the gateway do.
      return (await publishWithRetry(connection, message, { signal: AbortSignal.timeout(60_000) })).seq;
    },
    consumers: async () => (await listConsumerProgress(connection, streams.events)).map(({ name }) => name),
    close: () => connection.close(),
  };
}

export type PipelineRig = Awaited<ReturnType<typeof createPipelineRig>>;

async function isReady({ metricsPort }: RunningPipeline): Promise<boolean> {
  const { status } = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
  return status === 200;
}
