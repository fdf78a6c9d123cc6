import { DiscardPolicy, ErrorCode, KvWatchInclude, NatsError, StorageType } from 'nats';
import type { KV, KvEntry } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { listKeys } from '../connection/list-keys.ts';
import { PublishError } from '../publish/publisher.ts';
import { failureOfCode, isSequence, readPublishAnswer } from '../publish/publish-answer.ts';
import {
  answeredError,
  isNotFound,
  isNotPermitted,
  serverErrorCode,
  serverErrors,
  unansweredError,
} from '../connection/server-error.ts';
import { awaitStream, ifPermitted } from '../streams/topology.ts';
import { whileForming } from '../connection/while-forming.ts';

export type BucketSettings = {
  readonly name: string;
  readonly replicas: number;
  /** Entries expire this long after their last write, in ms. 0: never. */
  readonly ttlMs?: number;
  readonly bytesMax: number;
  /** When full, the bucket discards its oldest entries instead of refusing a write: for data that may be lost. */
  readonly givesUpOldest?: boolean;
};

export type BucketEntry = {
  readonly key: string;
  /** Undefined if the key was deleted. */
  readonly value: Uint8Array | undefined;
  /** Grows with every write to the bucket. */
  readonly revision: number;
  /** When the log stored the entry, in ms since the epoch. */
  readonly storedAtMs: number;
};

/** A durable key-value bucket in the log. */
export type Bucket = {
  get(key: string): Promise<BucketEntry | undefined>;
  /**
   * Writes a value and returns its revision. Throws PublishError if the log refuses it, for example because the bucket
   * is full.
   */
  put(key: string, value: Uint8Array): Promise<number>;
  /**
   * As `put`, but only if the key is still at `revision` (0: it does not exist); undefined if another writer was first.
   * The reason of the PublishError is `too_large` for a value that is larger than a message may be.
   */
  putIfUnchanged(key: string, value: Uint8Array, revision: number): Promise<number | undefined>;
  delete(key: string): Promise<void>;
  keys(filter?: string): Promise<string[]>;
  /** Calls back with every present entry, then with every change. `onReady` is called after the present entries. */
  watch(options: WatchOptions): Promise<BucketWatch>;
};

export type WatchOptions = {
  /** Keys to watch, `*` for one token, `>` for the rest. Default all. */
  readonly filter?: string;
  onEntry(entry: BucketEntry): void;
  onReady?(): void;
};

export type BucketWatch = { stop(): void; readonly stopped: Promise<void> };

/**
 * Opens the bucket, creates it if it is missing, and applies the limits of `settings`. A user without the right to do
 * so waits until another process has created the bucket, and does not change its limits.
 */
export async function openBucket(connection: LogConnection, settings: BucketSettings): Promise<Bucket> {
  const kv = await whileForming(async () => {
    const opened = await makeOrAwait(connection, settings);
    await followLimits(connection, settings);
    return opened;
  });
  return {
    async get(key) {
      const entry = await kv.get(key);
      return entry === null ? undefined : readEntry(entry);
    },
    put: (key, value) => put(connection, settings.name, key, value),
    putIfUnchanged: (key, value, revision) => putIfUnchanged(kv, settings.name, key, value, revision),
    delete: (key) => kv.delete(key),
    keys: (filter) => listKeys(kv, filter ?? '>'),
    watch: (options) => watchBucket(kv, options),
  };
}

async function makeOrAwait(connection: LogConnection, settings: BucketSettings): Promise<KV> {
  try {
    return await makeBucket(connection, settings);
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    await awaitStream(connection, streamOfBucket(settings.name));
    return makeBucket(connection, settings);
  }
}

/** Creates the bucket if it is missing; leaves an existing bucket as it is. */
function makeBucket({ [client]: { js } }: LogConnection, settings: BucketSettings): Promise<KV> {
  return js.views.kv(settings.name, {
    history: 1,
    replicas: settings.replicas,
    storage: StorageType.File,
    max_bytes: settings.bytesMax,
    // Only the leader answers: a lagging replica would return an entry that has been overwritten since.
    allow_direct: false,
    ...(settings.ttlMs === undefined ? {} : { ttl: settings.ttlMs }),
  });
}

const streamOfBucket = (name: string): string => `KV_${name}`;

/** The values of a bucket by key; undefined if the bucket does not exist. Changes nothing. */
export async function readBucket(
  connection: LogConnection,
  name: string,
): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  try {
    await connection[client].jsm.streams.info(streamOfBucket(name));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  const kv = await connection[client].js.views.kv(name, { bindOnly: true });
  const found = new Map<string, Uint8Array>();
  for (const key of await listKeys(kv, '>')) {
    // A key that was deleted meanwhile has no entry.
    const entry = await kv.get(key);
    const value = entry === null ? undefined : readEntry(entry).value;
    if (value !== undefined) found.set(key, value);
  }
  return found;
}

/** How many keys of a bucket match the filter: for a user that may not read the entries. */
export async function countKeys({ [client]: { jsm } }: LogConnection, name: string, filter: string): Promise<number> {
  const { state } = await jsm.streams.info(streamOfBucket(name), { subjects_filter: `$KV.${name}.${filter}` });
  return Object.keys(state.subjects ?? {}).length;
}

// The client library never changes an existing bucket, so a bucket created on a single server would never be
// replicated.
async function followLimits({ [client]: { jsm } }: LogConnection, settings: BucketSettings): Promise<void> {
  const stream = streamOfBucket(settings.name);
  const { config } = await jsm.streams.info(stream);
  // A start never reduces the number of copies.
  const limits = {
    num_replicas: Math.max(config.num_replicas, settings.replicas),
    max_bytes: settings.bytesMax,
    discard: settings.givesUpOldest === true ? DiscardPolicy.Old : DiscardPolicy.New,
  };
  const isSo = config.num_replicas === limits.num_replicas && config.max_bytes === limits.max_bytes;
  if (isSo && config.discard === limits.discard) return;
  await ifPermitted(() => jsm.streams.update(stream, { ...config, ...limits }));
}

const putTimeoutMs = 5_000;

async function put(connection: LogConnection, bucket: string, key: string, value: Uint8Array): Promise<number> {
  const answer = await connection[client].asker.ask(`$KV.${bucket}.${key}`, value, { timeoutMs: putTimeoutMs });
  if (typeof answer === 'string') throw unansweredError(answer);
  const stored = readPublishAnswer(answer.data, streamOfBucket(bucket));
  if (stored.kind === 'stored') return stored.seq;
  const error = answeredError(answer);
  throw serverErrorCode(error) === undefined ? error : new PublishError(stored.reason, `bucket ${bucket}`, error);
}

const anotherWasFirst: ReadonlySet<number | undefined> = new Set([
  serverErrors.wrongLastSequence,
  // On a replicated stream: the other write is not decided yet.
  serverErrors.wrongLastSequenceInProcess,
]);

async function putIfUnchanged(
  kv: KV,
  bucket: string,
  key: string,
  value: Uint8Array,
  revision: number,
): Promise<number | undefined> {
  try {
    return storedRevision(bucket, await (revision === 0 ? kv.create(key, value) : kv.update(key, value, revision)));
  } catch (error) {
    const code = serverErrorCode(error);
    if (anotherWasFirst.has(code)) return undefined;
    if (isTooLarge(error)) throw new PublishError('too_large', `bucket ${bucket}`, error);
    throw code === undefined ? error : new PublishError(failureOfCode(code), `bucket ${bucket}`, error);
  }
}

const tooLarge: string = ErrorCode.MaxPayloadExceeded;
const isTooLarge = (error: unknown): boolean => error instanceof NatsError && error.code === tooLarge;

/** Checks a revision: the client library assumes that every answer but an error has a sequence. */
function storedRevision(bucket: string, revision: number): number {
  if (isSequence(revision)) return revision;
  throw new PublishError('refused', `bucket ${bucket}`);
}

async function watchBucket(kv: KV, options: WatchOptions): Promise<BucketWatch> {
  let initializedEarly = false;
  let reading = false;
  // The client's ordered consumer restarts by itself after a reconnect or a gap.
  const iterator = await kv.watch({
    key: options.filter ?? '>',
    include: KvWatchInclude.LastValue,
    initializedFn: () => {
      if (reading) options.onReady?.();
      else initializedEarly = true;
    },
  });
  reading = true;
  const stopped = (async () => {
    for await (const entry of iterator) options.onEntry(readEntry(entry));
  })();
  // The client calls `initializedFn` when the present entries are queued, which may be before they are read.
  const announceOnceRead = (): void => {
    if (iterator.getPending() === 0) options.onReady?.();
    else setTimeout(announceOnceRead, 1);
  };
  if (initializedEarly) announceOnceRead();
  return { stop: () => iterator.stop(), stopped };
}

function readEntry(entry: KvEntry): BucketEntry {
  return {
    key: entry.key,
    value: entry.operation === 'PUT' ? entry.value : undefined,
    revision: entry.revision,
    storedAtMs: entry.created.getTime(),
  };
}
