import { DiscardPolicy, RetentionPolicy, StorageType, nanos } from 'nats';
import type { StreamConfig } from 'nats';
import type { LogConnection } from './connection.ts';
import { jetStreamFailure } from './jetstream-failure.ts';
import { isNotFound, serverErrorCode, serverErrors } from './server-error.ts';
import { whileForming } from './while-forming.ts';

/** Limits of the log. Bytes are bytes on disk before replication. */
export type TopologySettings = {
  readonly partitions: number;
  readonly replicas: number;
  readonly ingestBytesMax: number;
  readonly eventsBytesMax: number;
  readonly retryBytesMax: number;
  readonly deadLetterBytesMax: number;
  readonly deduplicationBytesMax: number;
};

export const streams = {
  ingest: 'INGEST',
  events: 'EVENTS',
  retry: 'RETRY',
  deadLetters: 'DEAD_LETTERS',
  deduplication: 'DEDUPLICATION',
  canary: 'CANARY',
} as const;

const streamOfHead: Readonly<Record<string, string>> = {
  ingest: streams.ingest,
  events: streams.events,
  retry: streams.retry,
  dead: streams.deadLetters,
  canary: streams.canary,
};

/** The stream that keeps a subject. */
export function streamOf(subject: string): string | undefined {
  return streamOfHead[subject.slice(0, subject.indexOf('.'))];
}

export const buckets = { config: 'CONFIG', health: 'HEALTH', leases: 'LEASES', replays: 'REPLAYS' } as const;

const duplicateWindowMs = 120_000;

export class TopologyError extends Error {
  readonly code = 'topology';
}

/** The streams as the code wants them. */
export function streamConfigs(settings: TopologySettings): readonly Partial<StreamConfig>[] {
  const kept = (name: string, subjects: readonly string[], bytesMax: number): Partial<StreamConfig> => ({
    name,
    subjects: [...subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // Full means push back: nothing undelivered is ever discarded for space.
    discard: DiscardPolicy.New,
    max_bytes: bytesMax,
    max_age: 0,
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: settings.replicas,
    allow_direct: true,
  });
  return [
    {
      ...kept(streams.ingest, ['ingest.*'], settings.ingestBytesMax),
      metadata: { 'sluice.partitions': String(settings.partitions) },
    },
    kept(streams.events, ['events.*.*'], settings.eventsBytesMax),
    kept(streams.retry, ['retry.*.*'], settings.retryBytesMax),
    kept(streams.deadLetters, ['dead.*'], settings.deadLetterBytesMax),
    {
      ...kept(streams.deduplication, ['deduplication.*'], settings.deduplicationBytesMax),
      // All of it stands in EVENTS as well: what is missing costs a resolver a longer start and no event.
      discard: DiscardPolicy.Old,
    },
    {
      ...kept(streams.canary, ['canary.*'], 1024 * 1024),
      discard: DiscardPolicy.Old,
      max_msgs_per_subject: 1,
      max_age: nanos(3_600_000),
    },
  ];
}

/**
 * Makes the streams that are missing and brings the limits of the others to `settings`.
 * The number of partitions is fixed when INGEST is made; the number in force is returned.
 */
export async function ensureTopology(
  connection: LogConnection,
  settings: TopologySettings,
): Promise<{ readonly partitions: number; readonly created: readonly string[] }> {
  const created: string[] = [];
  for (const config of streamConfigs(settings)) {
    if (await ensureStream(connection, config)) created.push(config.name ?? '');
  }
  const info = await whileForming(() => connection.jsm.streams.info(streams.ingest));
  const partitions = Number(info.config.metadata?.['sluice.partitions']);
  if (!Number.isInteger(partitions) || partitions < 1) {
    throw new TopologyError(`reading stream ${streams.ingest}: its metadata names no partition count`);
  }
  return { partitions, created };
}

async function ensureStream(connection: LogConnection, config: Partial<StreamConfig>): Promise<boolean> {
  try {
    return await whileForming(() => makeOrAdjust(connection, config));
  } catch (error) {
    throw new TopologyError(`ensuring stream ${config.name}: ${jetStreamFailure(error)}`, { cause: error });
  }
}

/** Whether it made the stream. */
async function makeOrAdjust({ jsm }: LogConnection, config: Partial<StreamConfig>): Promise<boolean> {
  const name = config.name ?? '';
  try {
    const found = await jsm.streams.info(name);
    if (found.config.max_bytes !== config.max_bytes || found.config.num_replicas !== config.num_replicas) {
      await jsm.streams.update(name, {
        ...found.config,
        max_bytes: config.max_bytes ?? -1,
        num_replicas: config.num_replicas ?? 1,
      });
    }
    return false;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    await jsm.streams.add(config);
    return true;
  } catch (error) {
    // Two processes that start together both find it missing; the second one finds it made.
    if (serverErrorCode(error) === serverErrors.streamNameInUse) return false;
    throw error;
  }
}
