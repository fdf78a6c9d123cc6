import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { StreamConfig } from 'nats';
import { DiscardPolicy, RetentionPolicy, StorageType, nanos } from 'nats';
import { logFormat } from '../../contracts/log-format.ts';
import { CannotStartError } from '../../runtime/cannot-start.ts';
import { version } from '../../runtime/version.ts';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import {
  isNotFound,
  isNotPermitted,
  jetStreamFailure,
  serverErrorCode,
  serverErrors,
} from '../connection/server-error.ts';
import { whileForming } from '../connection/while-forming.ts';
import type { TopologySettings } from './topology-settings.ts';

export const streams = {
  ingest: 'INGEST',
  events: 'EVENTS',
  retry: 'RETRY',
  deadLetters: 'DEAD_LETTERS',
  ingestDeadLetters: 'INGEST_DEAD_LETTERS',
  quarantine: 'QUARANTINE',
  deduplication: 'DEDUPLICATION',
  erasures: 'ERASURES',
  withdrawals: 'WITHDRAWALS',
  canary: 'CANARY',
} as const;

/** Streams by the first token of their subjects. */
const streamOfHead: Readonly<Record<string, string>> = {
  ingest: streams.ingest,
  events: streams.events,
  retry: streams.retry,
  dead: streams.deadLetters,
  'dead-ingest': streams.ingestDeadLetters,
  quarantine: streams.quarantine,
  deduplication: streams.deduplication,
  erasures: streams.erasures,
  withdrawals: streams.withdrawals,
  canary: streams.canary,
};

/** The stream that stores a subject; undefined if there is none. */
export function streamOf(subject: string): string | undefined {
  return streamOfHead[subject.slice(0, subject.indexOf('.'))];
}

export const buckets = {
  config: 'CONFIG',
  gatewayConfig: 'GATEWAY_CONFIG',
  health: 'HEALTH',
  leases: 'LEASES',
  positions: 'POSITIONS',
  replays: 'REPLAYS',
  tokens: 'TOKENS',
} as const;

const duplicateWindowMs = 120_000;

export class TopologyError extends Error {
  readonly code = 'topology';
}

const deploymentEntry = 'sluice.deployment';
const formatEntry = 'sluice.format';
const erasureKeyEntry = 'sluice.erasure-key';
/** A year: no event stays in the log for longer. */
const erasuresAgeMs = 365 * 86_400_000;
/** About 200,000 erasures. */
const erasuresBytesMax = 32 * 1024 ** 2;
const withdrawalsBytesMax = 64 * 1024 ** 2;
/**
 * Maximum number of notices of one account: 52 MiB if each takes 416 bytes, so that one account cannot fill the stream.
 * Never raise it: readers know by this number of notices that older ones may be missing.
 */
const withdrawalsOfAccountMax = 131_072;

/** Adds a field that the client library's types lack. `allow_atomic`: the stream accepts atomic batches. */
type WantedConfig = Partial<StreamConfig> & { readonly allow_atomic?: boolean };
type FoundConfig = StreamConfig & { readonly allow_atomic?: boolean };

/** The configuration of every stream, as this build wants it. */
export function streamConfigs(settings: TopologySettings, deploymentId?: string): readonly WantedConfig[] {
  const kept = (name: string, subjects: readonly string[], bytesMax: number): Partial<StreamConfig> => ({
    name,
    subjects: [...subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full stream refuses writes; retention decides which messages are removed.
    discard: DiscardPolicy.New,
    max_bytes: bytesMax,
    max_age: 0,
    // nats-server 2.15 reads -1 as 1,000, and every destination has a consumer.
    max_consumers: settings.consumersMax,
    duplicate_window: nanos(duplicateWindowMs),
    num_replicas: settings.replicas,
    allow_direct: true,
  });
  return [
    {
      ...kept(streams.ingest, ['ingest.*'], settings.ingestBytesMax),
      metadata: {
        'sluice.partitions': String(settings.partitions),
        ...(deploymentId === undefined ? {} : { [deploymentEntry]: deploymentId }),
      },
    },
    { ...kept(streams.events, ['events.*.*'], settings.eventsBytesMax), allow_atomic: true },
    kept(streams.retry, ['retry.*.*'], settings.retryBytesMax),
    {
      ...kept(streams.deadLetters, ['dead.*'], settings.deadLetterBytesMax),
      allow_atomic: true,
      max_age: nanos(settings.deadLetterAgeMs),
    },
    {
      ...kept(streams.ingestDeadLetters, ['dead-ingest.*'], settings.ingestDeadLetterBytesMax),
      // If the stream is full, the oldest messages are removed: accepted events must not wait.
      discard: DiscardPolicy.Old,
      max_age: nanos(settings.deadLetterAgeMs),
    },
    {
      ...kept(streams.quarantine, ['quarantine.*.*.*'], settings.ingestDeadLetterBytesMax),
      // If the stream is full, the oldest messages are removed: accepted events must not wait.
      discard: DiscardPolicy.Old,
      max_age: nanos(settings.deadLetterAgeMs),
    },
    {
      ...kept(streams.deduplication, ['deduplication.*'], settings.deduplicationBytesMax),
      // EVENTS contains the same ids: a resolver without a checkpoint starts more slowly, but no event is lost.
      discard: DiscardPolicy.Old,
    },
    {
      ...kept(streams.erasures, ['erasures.*'], erasuresBytesMax),
      // A full stream must not refuse an erasure. By the time a notice is removed, the events of its visitors have left
      // the log.
      discard: DiscardPolicy.Old,
      max_age: nanos(erasuresAgeMs),
      // Only the leader answers: a replica that lags may not have the last notice yet.
      allow_direct: false,
    },
    {
      ...kept(streams.withdrawals, ['withdrawals.*'], withdrawalsBytesMax),
      // The oldest notices of an account with too many are removed, then the oldest of all. Events received before the
      // oldest notice of the account, or of all, are not sent to destinations with purposes.
      max_msgs_per_subject: withdrawalsOfAccountMax,
      discard: DiscardPolicy.Old,
      max_age: nanos(erasuresAgeMs),
      allow_direct: false,
    },
    {
      ...kept(streams.canary, ['canary.*'], 1024 * 1024),
      discard: DiscardPolicy.Old,
      max_msgs_per_subject: 1,
      max_age: nanos(3_600_000),
    },
  ];
}

/** Refuses a log whose metadata names a format that this build may not understand. */
function refuseNewerFormat({ metadata }: FoundConfig): void {
  const found = formatOf(metadata);
  if (found <= logFormat) return;
  throw new CannotStartError(
    `the log at NATS_URL is of format ${found}, and version ${version} reads up to ${logFormat}: a newer version has written ` +
      'to it. Run that version or a newer one. To go back, restore a backup of the log from before',
  );
}

/** The format in a stream's metadata; 1 for a log from a build without format numbers. */
const formatOf = (metadata: StreamConfig['metadata']): number => Number(metadata?.[formatEntry] ?? 1);

/** The format of a log, from its stream INGEST; undefined if there is no log yet. Changes nothing. */
export function readLogFormat({ [client]: { jsm } }: LogConnection): Promise<number | undefined> {
  return whileForming(async () => {
    try {
      return formatOf((await jsm.streams.info(streams.ingest)).config.metadata);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
}

/** The log belongs to another deployment. */
export class ForeignLogError extends TopologyError {}

/**
 * Creates missing streams and applies `settings` to the limits of the others; the number of copies only rises. A user
 * without the rights for this, such as the gateway's, leaves limits alone and waits for the streams in `needs`. The
 * number of partitions is fixed when INGEST is created. Returns the number in force, and the streams that were created.
 * Throws ForeignLogError for a log with another deployment's id, before anything is changed; a log without an id gets
 * this deployment's. Throws CannotStartError for a newer format.
 */
export async function ensureTopology(
  connection: LogConnection,
  settings: TopologySettings,
  deploymentId?: string,
  needs: readonly string[] = Object.values(streams),
): Promise<{ readonly partitions: number; readonly created: readonly string[] }> {
  const created: string[] = [];
  for (const config of streamConfigs(settings, deploymentId)) {
    if (await ensureStream(connection, config, needs.includes(config.name ?? ''))) created.push(config.name ?? '');
  }
  const info = await whileForming(() => connection[client].jsm.streams.info(streams.ingest));
  const partitions = Number(info.config.metadata?.['sluice.partitions']);
  if (!Number.isInteger(partitions) || partitions < 1) {
    throw new TopologyError(`reading stream ${streams.ingest}: its metadata names no partition count`);
  }
  return { partitions, created };
}

async function ensureStream(connection: LogConnection, config: WantedConfig, isNeeded: boolean): Promise<boolean> {
  try {
    return await whileForming(() => makeOrAdjust(connection, config, isNeeded));
  } catch (error) {
    if (error instanceof TopologyError || error instanceof CannotStartError) throw error;
    throw new TopologyError(`ensuring stream ${config.name}: ${jetStreamFailure(error)}`, { cause: error });
  }
}

/** Returns whether it created the stream. */
async function makeOrAdjust(connection: LogConnection, config: WantedConfig, isNeeded: boolean): Promise<boolean> {
  const { jsm } = connection[client];
  const name = config.name ?? '';
  try {
    const found = await jsm.streams.info(name);
    refuseNewerFormat(found.config);
    const adjusted = adjust(found.config, config);
    if (!isDeepStrictEqual(adjusted, found.config)) await ifPermitted(() => jsm.streams.update(name, adjusted));
    return false;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    if (await ifPermitted(() => jsm.streams.add(asMade(config)))) return true;
    if (isNeeded) await awaitStream(connection, name);
    return false;
  } catch (error) {
    // Another process started at the same time and created the stream first.
    if (serverErrorCode(error) === serverErrors.streamNameInUse) return false;
    throw error;
  }
}

/** Changes the log if the user has the right; returns whether it did. If not, another process makes the change. */
export async function ifPermitted(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    return false;
  }
}

/** Resolves once another process has created the stream; throws TopologyError after half a minute. */
export async function awaitStream({ [client]: { jsm } }: LogConnection, name: string): Promise<void> {
  try {
    await whileForming(() => jsm.streams.info(name));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new TopologyError(
      `waiting for stream ${name}: it is missing, and NATS_USER is not allowed to create it. A pipeline or a control plane ` +
        'creates it when it starts',
      { cause: error },
    );
  }
}

/**
 * The configuration with which a stream is created: INGEST's metadata gets the format of the log, the streams of
 * erasures and withdrawals get the key of their hashes.
 */
function asMade(config: WantedConfig): WantedConfig {
  if (config.name === streams.erasures || config.name === streams.withdrawals) {
    return { ...config, metadata: { [erasureKeyEntry]: randomBytes(32).toString('base64') } };
  }
  if (config.metadata === undefined) return config;
  return { ...config, metadata: { ...config.metadata, [formatEntry]: String(logFormat) } };
}

/** State of the stream of erasures, read from its leader. */
export type ErasuresState = {
  /** Distinguishes the stream from one that was created again. */
  readonly createdAt: string;
  readonly lastSeq: number;
  /** Key of its hashes. */
  readonly key: Buffer;
};

/** Read from the stream's leader. Throws TopologyError if the stream's metadata has no key. */
export async function readErasuresState(connection: LogConnection): Promise<ErasuresState> {
  const { created, state, key } = await readHashed(connection, streams.erasures);
  return { createdAt: created, lastSeq: state.last_seq, key };
}

async function readHashed({ [client]: { jsm } }: LogConnection, stream: string) {
  const { created, state, config } = await jsm.streams.info(stream);
  const key = config.metadata?.[erasureKeyEntry];
  if (key === undefined) {
    throw new TopologyError(
      `reading stream ${stream}: its metadata has no ${erasureKeyEntry}. Delete the stream: a pipeline or a control ` +
        'plane creates it again when it starts',
    );
  }
  return { created, state, config, key: Buffer.from(key, 'base64') };
}

/** State of the stream of withdrawn consents, read from its leader. */
export type WithdrawalsState = {
  readonly createdAt: string;
  readonly lastSeq: number;
  /** Maximum number of notices of one account. */
  readonly ofAccountMax: number;
  /** Key of its hashes. */
  readonly key: Buffer;
};

export async function readWithdrawalsState(connection: LogConnection): Promise<WithdrawalsState> {
  const { created, state, config, key } = await readHashed(connection, streams.withdrawals);
  const most = config.max_msgs_per_subject;
  return { createdAt: created, lastSeq: state.last_seq, ofAccountMax: most > 0 ? most : Infinity, key };
}

function adjust(found: FoundConfig, wanted: WantedConfig): FoundConfig {
  const [foundId, wantedId] = [found, wanted].map(({ metadata }) => metadata?.[deploymentEntry]);
  if (foundId !== undefined && wantedId !== undefined && foundId !== wantedId) throw foreignLog(foundId, wantedId);
  return {
    ...found,
    max_bytes: wanted.max_bytes ?? -1,
    max_age: wanted.max_age ?? 0,
    max_consumers: wanted.max_consumers ?? -1,
    num_replicas: Math.max(found.num_replicas, wanted.num_replicas ?? 1),
    ...(wanted.allow_atomic === undefined ? {} : { allow_atomic: wanted.allow_atomic }),
    ...(wanted.max_msgs_per_subject === undefined ? {} : { max_msgs_per_subject: wanted.max_msgs_per_subject }),
    ...(wanted.metadata === undefined
      ? {}
      : {
          metadata: {
            ...found.metadata,
            [formatEntry]: String(logFormat),
            ...(wantedId === undefined ? {} : { [deploymentEntry]: wantedId }),
          },
        }),
  };
}

function foreignLog(foundId: string, wantedId: string): ForeignLogError {
  return new ForeignLogError(
    `the log at NATS_URL belongs to deployment ${foundId}, the database at DATABASE_URL to ${wantedId}: two ` +
      'deployments on one log would take each other’s events. Set NATS_URL and DATABASE_URL to the same deployment; ' +
      `if the database was recreated for this log, adopt the log: update deployment set id = '${foundId}'`,
  );
}

/**
 * Throws TopologyError if the log cannot have `replicas` copies, or if it has more: a start never reduces them. Changes
 * nothing.
 */
export async function refuseFewerCopies(connection: LogConnection, replicas: number): Promise<void> {
  if (replicas > 1 && connection[client].nc.info?.cluster === undefined) {
    throw new TopologyError(
      `checking the log: LOG_REPLICAS is ${replicas}, but the nats-server at NATS_URL is in no cluster. ` +
        'Set LOG_REPLICAS=1, or NATS_URL to the servers of the cluster',
    );
  }
  for (const stream of Object.values(streams)) {
    const found = await copiesOf(connection, stream);
    if (found <= replicas) continue;
    throw new TopologyError(
      `checking the log: stream ${stream} has ${found} copies, but LOG_REPLICAS is ${replicas}. Set LOG_REPLICAS=${found}; ` +
        `to have fewer, stop all services and reduce the copies first: nats stream edit ${stream} --replicas ${replicas}`,
    );
  }
}

/** The number of copies of a stream; 0 if it is missing. */
function copiesOf({ [client]: { jsm } }: LogConnection, stream: string): Promise<number> {
  return whileForming(async () => {
    try {
      return (await jsm.streams.info(stream)).config.num_replicas;
    } catch (error) {
      if (isNotFound(error)) return 0;
      throw error;
    }
  });
}
