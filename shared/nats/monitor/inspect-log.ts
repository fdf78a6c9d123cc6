import { DiscardPolicy, StorageType, nanos } from 'nats';
import type { ConsumerInfo, StreamConfig, StreamInfo } from 'nats';
import { isJsonObject } from '../../runtime/json.ts';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { consumerPolicy } from '../consume/consumers.ts';
import { jetStreamFailure, isNotFound } from '../connection/server-error.ts';
import { bucketSettings } from '../buckets/open-buckets.ts';
import { TopologyError, streamConfigs, streams } from '../streams/topology.ts';
import type { TopologySettings } from '../streams/topology-settings.ts';

/** A setting whose value differs from the code's. `setting` is the server's name for it. */
export type SettingDifference = { readonly setting: string; readonly wanted: string; readonly found: string };

/** A stream, or the stream of a bucket, compared with the code's configuration. */
export type StreamReport = {
  readonly name: string;
  /** Undefined: the stream is missing. */
  readonly differences: readonly SettingDifference[] | undefined;
  readonly bytes: number;
  readonly bytesMax: number;
  /** When full, the stream removes its oldest messages instead of refusing new ones. */
  readonly removesOldest: boolean;
  /** Number of servers with an up-to-date copy, the leader included; undefined if the server lists no other copies. */
  readonly copiesCurrent: number | undefined;
  readonly copies: number;
};

export type ConsumerReport = {
  readonly stream: string;
  readonly name: string;
  readonly differences: readonly SettingDifference[];
  readonly ackPending: number;
  readonly ackPendingMax: number;
  readonly waiting: number;
};

export type LogReport = {
  readonly streams: readonly StreamReport[];
  readonly consumers: readonly ConsumerReport[];
  /** Bytes that all streams may take together; undefined if the account has no limit. */
  readonly storageBytesMax: number | undefined;
};

type Wanted = Partial<StreamConfig> & { readonly name: string };

/** Compares streams, buckets and consumers with the code's configuration. Changes nothing. */
export async function inspectLog(connection: LogConnection, settings: TopologySettings): Promise<LogReport> {
  const wanted: readonly Wanted[] = [
    ...streamConfigs(settings).map(({ metadata, ...config }) => ({
      ...config,
      name: config.name ?? '',
      ...(metadata === undefined || settings.arePartitionsFitted ? {} : { metadata }),
    })),
    ...Object.values(bucketSettings(settings.replicas)).map((bucket) => ({
      name: `KV_${bucket.name}`,
      storage: StorageType.File,
      max_bytes: bucket.bytesMax,
      max_age: nanos(bucket.ttlMs ?? 0),
      num_replicas: bucket.replicas,
    })),
  ];
  const account = await connection[client].jsm.getAccountInfo().catch((error: unknown) => {
    throw new TopologyError(`reading the log: ${jetStreamFailure(error)}`, { cause: error });
  });
  const found = await Promise.all(wanted.map((one) => inspectStream(connection, one)));
  const withConsumers = found.filter(({ name, differences }) => differences !== undefined && consumed.has(name));
  const consumers = await Promise.all(withConsumers.map(({ name }) => inspectConsumers(connection, name)));
  return {
    streams: found,
    consumers: consumers.flat(),
    storageBytesMax: account.limits.max_storage > 0 ? account.limits.max_storage : undefined,
  };
}

const consumed: ReadonlySet<string> = new Set([streams.ingest, streams.events]);

async function inspectStream({ [client]: { jsm } }: LogConnection, wanted: Wanted): Promise<StreamReport> {
  try {
    return reportStream(wanted, await jsm.streams.info(wanted.name));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const { name, max_bytes: bytesMax = 0, num_replicas: copies = 1 } = wanted;
    const removesOldest = wanted.discard === DiscardPolicy.Old;
    return { name, differences: undefined, bytes: 0, bytesMax, removesOldest, copiesCurrent: undefined, copies };
  }
}

function reportStream(wanted: Wanted, { config, state, cluster }: StreamInfo): StreamReport {
  const others = cluster?.replicas;
  return {
    name: wanted.name,
    differences: differences(wanted, config),
    bytes: state.bytes,
    bytesMax: config.max_bytes,
    removesOldest: config.discard === DiscardPolicy.Old,
    copiesCurrent: others === undefined ? undefined : 1 + others.filter(({ current }) => current).length,
    copies: config.num_replicas,
  };
}

async function inspectConsumers(
  { [client]: { jsm } }: LogConnection,
  stream: string,
): Promise<readonly ConsumerReport[]> {
  const reports: ConsumerReport[] = [];
  for await (const info of jsm.consumers.list(stream)) {
    // Temporary consumers of the client library (a bucket's watch, a reader of headers) do not count.
    if (info.config.durable_name !== undefined) reports.push(reportConsumer(info));
  }
  return reports;
}

function reportConsumer(info: ConsumerInfo): ConsumerReport {
  return {
    stream: info.stream_name,
    name: info.name,
    differences: differences(consumerPolicy, info.config),
    ackPending: info.num_ack_pending,
    ackPendingMax: info.config.max_ack_pending ?? -1,
    waiting: info.num_pending,
  };
}

/** The settings of `wanted` that differ in `found`. A missing setting is the server's zero value. */
function differences(wanted: object, found: object): readonly SettingDifference[] {
  const has = new Map<string, unknown>(Object.entries(found));
  return Object.entries(wanted).flatMap(([setting, value]) => {
    const [left, right] = [write(value), write(onlyWanted(value, has.get(setting)) ?? emptyOf(value))];
    return left === right ? [] : [{ setting, wanted: left, found: right }];
  });
}

/** Only the metadata entries that `wanted` has: a server adds others. */
function onlyWanted(wanted: unknown, found: unknown): unknown {
  if (!isJsonObject(wanted) || !isJsonObject(found)) return found;
  return Object.fromEntries(Object.keys(wanted).map((key) => [key, found[key]]));
}

const write = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function emptyOf(value: unknown): unknown {
  if (typeof value === 'number') return 0;
  return typeof value === 'boolean' ? false : 'nothing';
}
