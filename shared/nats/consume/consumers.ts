import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, ReplayPolicy, nanos } from 'nats';
import type { ConsumerConfig, ConsumerInfo } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNotFound, serverErrorCode, serverErrors } from '../connection/server-error.ts';
import { readAt, readNext } from '../messages/subject-log.ts';
import { findSeqAt } from '../messages/find-seq-at.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import type { FinishedMessages } from './taken-messages.ts';

/**
 * Where a new durable consumer begins: at the oldest message, at the next one to be stored, at a sequence, or at a time
 * in ms since the epoch.
 */
export type StartFrom = 'first' | 'next' | { readonly seq: number } | { readonly timeMs: number };

export type DurableConsumer = {
  readonly stream: string;
  readonly name: string;
  readonly filterSubject: string;
  /** Used only when the consumer is created; an existing consumer keeps its position. */
  readonly startFrom: StartFrom;
  /** A message without ack or progress for this long is delivered again, in ms. */
  readonly ackWaitMs: number;
  /** Maximum number of messages delivered and not yet acknowledged. */
  readonly ackPendingMax: number;
  /** Where else the reader's progress is stored. By default only the servers store it, with the consumer, on disk. */
  readonly placeIsKept?: PlaceKept;
};

/**
 * 'by-reader': the reader stores its position before it acknowledges, and restores it. 'by-ids': the reader recognises
 * redelivered messages by their ids, at some cost. In both cases the servers keep the consumer in memory. On disk, a
 * server would sync it up to twenty times a second; on a replicated stream, each server would sync it twice for each
 * message. After a restart of the only server, or of most servers at once, the consumer is missing and is created
 * again.
 */
export type PlaceKept = 'nobody' | 'by-reader' | 'by-ids';

/**
 * The policy of all durable consumers. A pull request names a group, and the server refuses requests of any group
 * except the consumer's: the group is the fencing token of the reader that owns the consumer.
 */
export const consumerPolicy = {
  ack_policy: AckPolicy.Explicit,
  replay_policy: ReplayPolicy.Instant,
  // The server never drops a message: the dispatcher counts attempts.
  max_deliver: -1,
  priority_policy: 'overflow',
} as const;

/**
 * A pull request waits this long at the server, in ms. After a pause, a reader's waiting request may still receive
 * messages for this long.
 */
export const pullExpiresMs = 3_000;

/** A pull request of one reader among very many waits at most this long, in ms. */
export const pullExpiresMaxMs = 10_000;

/** A consumer owned by one reader, which receives everything that is not acknowledged, in order. */
export type OwnedConsumer = {
  /** The group of the reader's pull requests. */
  readonly group: string;
  readonly isNew: boolean;
  /** Everything up to this sequence that was stored no later than `ackedAtMs` is acknowledged. */
  readonly ackedSeq: number;
  /** When the server reported `ackedSeq`, in ms since the epoch. */
  readonly ackedAtMs: number;
  /** Messages up to this sequence were delivered before. */
  readonly handedOutSeq: number;
  /** Whether some of these messages were not acknowledged. */
  readonly wasUnfinished: boolean;
  /** The `consumerSeq` of the next message. */
  readonly nextConsumerSeq: number;
  /** Number of messages that are not acknowledged, whether or not they were delivered. */
  readonly unfinished: number;
};

export class ConsumerError extends Error {
  readonly code: string = 'consumer';
}

/** Another reader has taken the consumer over: this reader must end. */
export class ConsumerTakenError extends ConsumerError {
  override readonly code = 'consumer_taken';
}

/** The library's configuration and state of a consumer, with fields that its types lack. */
type Config = ConsumerConfig & { readonly priority_policy?: string; readonly priority_groups?: readonly string[] };
type Info = ConsumerInfo & { readonly ts?: string };

const requestTimeoutMs = 5_000;
const lookEveryMs = 50;

/**
 * Returns the messages that earlier readers of a consumer finished; undefined if there are none. `acked` is the
 * server's record, if the consumer exists.
 */
export type FinishedBefore = (acked: FinishedMessages | undefined) => Promise<FinishedMessages | undefined>;

/**
 * Takes a durable consumer over for the caller: its previous reader receives nothing more, and the messages that it did
 * not acknowledge come first, in the order of the stream. Creates a missing consumer; an existing consumer gets the
 * limits in `wanted` and keeps its position. Throws ConsumerError.
 */
export async function claimConsumer(connection: LogConnection, wanted: DurableConsumer): Promise<OwnedConsumer> {
  const group = newGroup();
  try {
    const { info, isNew } = await findOrMake(connection, wanted, group, undefined);
    if (isNew) return { ...ownedAs(info, group), isNew };
    const fenced = await fence(connection, wanted, info, group);
    const isOnDisk = isInMemory(wanted) && fenced.config.mem_storage !== true;
    return await (isOnDisk
      ? moveToMemory(connection, wanted, fenced, group)
      : resetConsumer(connection, fenced, group));
  } catch (error) {
    throw new ConsumerError(`taking over consumer ${wanted.name}`, { cause: error });
  }
}

/**
 * As `claimConsumer`, for a reader that stores its own position: the consumer is created again after the finished
 * messages. `finishedBefore` is called once earlier readers receive nothing more. If the log no longer matches what
 * they finished, the consumer begins at `startFrom`, and delivers finished messages that the log still has again.
 * Throws ConsumerTakenError if another reader creates the consumer first.
 */
export async function claimConsumerAt(
  connection: LogConnection,
  wanted: DurableConsumer,
  finishedBefore: FinishedBefore,
): Promise<OwnedConsumer & { readonly finished: FinishedMessages }> {
  const group = newGroup();
  const found = await findConsumer(connection, wanted);
  if (found !== undefined) await fence(connection, wanted, found, group);
  const finished = await finishedBefore(found && ackedOf(found));
  try {
    const startFrom = await startBehind(connection, wanted, finished);
    await deleteConsumer(connection, wanted.stream, wanted.name);
    const made = await makeConsumer(connection, wanted, group, startFrom);
    if (made === undefined) throw new ConsumerTakenError(`consumer ${wanted.name} was taken over by another reader`);
    return {
      ...ownedAs(made, group),
      isNew: found === undefined,
      handedOutSeq: found?.delivered.stream_seq ?? 0,
      finished: finished ?? ackedOf(made),
    };
  } catch (error) {
    if (error instanceof ConsumerTakenError) throw error;
    throw new ConsumerError(`taking over consumer ${wanted.name}`, { cause: error });
  }
}

/** Moves a consumer that an earlier release kept on disk to memory: recreates it after its acknowledged messages. */
async function moveToMemory(
  connection: LogConnection,
  wanted: DurableConsumer,
  found: ConsumerInfo,
  group: string,
): Promise<OwnedConsumer> {
  await deleteConsumer(connection, wanted.stream, wanted.name);
  const made = await makeConsumer(connection, wanted, group, { seq: found.ack_floor.stream_seq + 1 });
  if (made === undefined) throw new ConsumerTakenError(`consumer ${wanted.name} was taken over by another reader`);
  const { handedOutSeq, wasUnfinished } = ownedAs(found, group);
  return { ...ownedAs(made, group), handedOutSeq, wasUnfinished };
}

const newGroup = (): string => randomBytes(9).toString('base64url');

/** Makes the server refuse the requests of every other group from now on. */
function fence(
  connection: LogConnection,
  wanted: DurableConsumer,
  { config: found }: ConsumerInfo,
  group: string,
): Promise<ConsumerInfo> {
  const config = { ...found, ...limitsOf(wanted), priority_policy: 'overflow', priority_groups: [group] };
  return connection[client].jsm.consumers.update(wanted.stream, wanted.name, config);
}

function ackedOf(info: Info): FinishedMessages {
  return { upTo: info.ack_floor.stream_seq, above: [], storedUntilMs: Date.parse(info.ts ?? info.created) };
}

/**
 * Makes the server deliver everything above the acknowledged floor again, to the reader that owns the group. Recreates
 * a missing consumer after the messages that the reader has finished. Throws ConsumerTakenError if another reader owns
 * it.
 */
export async function rewindConsumer(
  connection: LogConnection,
  wanted: DurableConsumer,
  group: string,
  finished: FinishedMessages,
): Promise<OwnedConsumer> {
  try {
    const { info, isNew } = await findOrMake(connection, wanted, group, finished);
    if (isNew) return { ...ownedAs(info, group), isNew };
    assertOwned(info, group);
    return await resetConsumer(connection, info, group);
  } catch (error) {
    if (error instanceof ConsumerTakenError) throw error;
    throw new ConsumerError(`rewinding consumer ${wanted.name}`, { cause: error });
  }
}

/**
 * Moves a consumer past a sequence: unfinished messages up to `upTo` are skipped. Returns `owned` itself if the log
 * does not reach that sequence, or if everything up to it is acknowledged. Throws ConsumerTakenError if another reader
 * creates the consumer first.
 */
export async function skipConsumer(
  connection: LogConnection,
  wanted: DurableConsumer,
  owned: OwnedConsumer,
  upTo: number,
): Promise<OwnedConsumer> {
  try {
    const { lastSeq } = await readStreamState(connection, wanted.stream);
    if (upTo > lastSeq || upTo <= owned.ackedSeq) return owned;
    await deleteConsumer(connection, wanted.stream, wanted.name);
    const made = await makeConsumer(connection, wanted, owned.group, { seq: upTo + 1 });
    if (made === undefined) throw new ConsumerTakenError(`consumer ${wanted.name} was taken over by another reader`);
    return { ...ownedAs(made, owned.group), isNew: true };
  } catch (error) {
    if (error instanceof ConsumerTakenError) throw error;
    throw new ConsumerError(`skipping messages of consumer ${wanted.name}`, { cause: error });
  }
}

/**
 * Whether a consumer may begin after the finished messages: the log reaches `upTo`, and has no message of the consumer
 * up to there that is younger than the finished ones. The message at `upTo` itself may belong to another subject.
 */
async function reachesTo(
  connection: LogConnection,
  wanted: DurableConsumer,
  { upTo, storedUntilMs }: FinishedMessages,
): Promise<boolean> {
  if (upTo === 0) return true;
  const last = await readAt(connection, wanted.stream, upTo);
  if (last !== undefined && last.storedAtMs <= storedUntilMs) return true;
  const { lastSeq } = await readStreamState(connection, wanted.stream);
  return lastSeq >= upTo && !(await hasYounger(connection, wanted, { upTo, storedUntilMs }));
}

/** Whether the log has a message of the consumer up to `upTo` that was stored after `storedUntilMs`. */
async function hasYounger(
  connection: LogConnection,
  { stream, filterSubject }: DurableConsumer,
  { upTo, storedUntilMs }: Pick<FinishedMessages, 'upTo' | 'storedUntilMs'>,
): Promise<boolean> {
  // Times may go back at a change of the leader.
  for (let seq = await findSeqAt(connection, stream, storedUntilMs + 1); ;) {
    const next = await readNext(connection, stream, filterSubject, seq);
    if (next === undefined || next.seq > upTo) return false;
    if (next.storedAtMs > storedUntilMs) return true;
    seq = next.seq + 1;
  }
}

/**
 * Throws ConsumerTakenError if the consumer belongs to another group. A missing consumer belongs to no other reader.
 */
export async function confirmConsumer(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
  group: string,
): Promise<void> {
  const found = await findConsumer(connection, consumer);
  if (found !== undefined) assertOwned(found, group);
}

/** Deletes a durable consumer. A missing consumer is not an error. */
export async function deleteConsumer(connection: LogConnection, stream: string, name: string): Promise<void> {
  try {
    await connection[client].jsm.consumers.delete(stream, name);
  } catch (error) {
    if (!isNotFound(error)) throw new ConsumerError(`deleting consumer ${name}`, { cause: error });
  }
}

/** Whether a consumer exists, has no waiting pull request, and has delivered no message for `forMs`. */
export async function isUnread(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
  forMs: number,
): Promise<boolean> {
  const info = await findConsumer(connection, consumer);
  if (info === undefined) return false;
  // The client library types `last_active` as a number. The server sends a text, or nothing if no message was
  // delivered.
  const lastGivenMs = Date.parse(String(info.delivered.last_active ?? info.created));
  return info.num_waiting === 0 && Date.now() - lastGivenMs > forMs;
}

/** Whether a pull request waits at the consumer; false for a missing consumer. */
export async function isRead(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
): Promise<boolean> {
  const info = await findConsumer(connection, consumer);
  return info !== undefined && info.num_waiting > 0;
}

async function findConsumer(
  { [client]: { jsm } }: LogConnection,
  { stream, name }: Pick<DurableConsumer, 'stream' | 'name'>,
): Promise<ConsumerInfo | undefined> {
  try {
    return await jsm.consumers.info(stream, name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the consumer. A missing consumer is created for the group, after the finished messages if there are any. */
async function findOrMake(
  connection: LogConnection,
  wanted: DurableConsumer,
  group: string,
  finished: FinishedMessages | undefined,
): Promise<{ readonly info: ConsumerInfo; readonly isNew: boolean }> {
  for (;;) {
    const found = await findConsumer(connection, wanted);
    if (found !== undefined) return { info: found, isNew: false };
    const startFrom = await startBehind(connection, wanted, finished);
    const made = await makeConsumer(connection, wanted, group, startFrom);
    if (made !== undefined) return { info: made, isNew: true };
  }
}

async function startBehind(
  connection: LogConnection,
  wanted: DurableConsumer,
  finished: FinishedMessages | undefined,
): Promise<StartFrom> {
  const isThere = finished !== undefined && (await reachesTo(connection, wanted, finished));
  return isThere ? { seq: finished.upTo + 1 } : wanted.startFrom;
}

/** Creates the consumer; undefined if another reader created it first. */
async function makeConsumer(
  connection: LogConnection,
  wanted: DurableConsumer,
  group: string,
  startFrom: StartFrom,
): Promise<ConsumerInfo | undefined> {
  const config: Partial<Config> = {
    durable_name: wanted.name,
    filter_subject: wanted.filterSubject,
    ...consumerPolicy,
    ...limitsOf(wanted),
    ...startConfig(startFrom),
    priority_groups: [group],
    mem_storage: isInMemory(wanted),
  };
  try {
    return await connection[client].jsm.consumers.add(wanted.stream, config);
  } catch (error) {
    if (serverErrorCode(error) === serverErrors.consumerAlreadyExists) return undefined;
    throw error;
  }
}

const isInMemory = ({ placeIsKept = 'nobody' }: DurableConsumer): boolean => placeIsKept !== 'nobody';

/**
 * Resets a consumer to its acknowledged floor, and repeats this until no delivered message is unacknowledged and no
 * request waits: an earlier request stays valid until it expires or its connection closes, and may receive messages
 * meanwhile. Throws ConsumerError if that takes too long.
 */
async function resetConsumer(connection: LogConnection, found: ConsumerInfo, group: string): Promise<OwnedConsumer> {
  const { handedOutSeq, wasUnfinished } = ownedAs(found, group);
  const endMs = performance.now() + pullExpiresMaxMs + requestTimeoutMs;
  let info = found;
  while (info.num_ack_pending > 0 || info.num_waiting > 0) {
    if (performance.now() > endMs) throw new ConsumerError('other readers keep requesting messages of the consumer');
    if (info !== found && info.num_waiting > 0) await wait(lookEveryMs);
    info = await requestReset(connection, found.stream_name, found.name);
    assertOwned(info, group);
  }
  return { ...ownedAs(info, group), handedOutSeq, wasUnfinished };
}

async function requestReset(connection: LogConnection, stream: string, name: string): Promise<ConsumerInfo> {
  const options = { timeout: requestTimeoutMs };
  const message = await connection[client].nc.request(`$JS.API.CONSUMER.RESET.${stream}.${name}`, undefined, options);
  const answer = message.json<ConsumerInfo & { readonly error?: { readonly description: string } }>();
  if (answer.error !== undefined) throw new ConsumerError(`resetting it: ${answer.error.description}`);
  return answer;
}

function assertOwned({ name, config }: ConsumerInfo, group: string): void {
  const { priority_groups: groups }: Config = config;
  if (groups?.[0] !== group) throw new ConsumerTakenError(`consumer ${name} was taken over by another reader`);
}

function ownedAs(info: Info, group: string): OwnedConsumer {
  return {
    group,
    isNew: false,
    ackedSeq: info.ack_floor.stream_seq,
    ackedAtMs: Date.parse(info.ts ?? info.created),
    handedOutSeq: info.delivered.stream_seq,
    wasUnfinished: info.num_ack_pending > 0,
    nextConsumerSeq: info.delivered.consumer_seq + 1,
    unfinished: info.num_pending + info.num_ack_pending,
  };
}

function limitsOf(wanted: DurableConsumer): Pick<ConsumerConfig, 'ack_wait' | 'max_ack_pending'> {
  return { ack_wait: nanos(wanted.ackWaitMs), max_ack_pending: wanted.ackPendingMax };
}

function startConfig(from: StartFrom): Pick<ConsumerConfig, 'deliver_policy'> & Partial<ConsumerConfig> {
  if (from === 'first') return { deliver_policy: DeliverPolicy.All };
  if (from === 'next') return { deliver_policy: DeliverPolicy.New };
  if ('seq' in from) return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.seq };
  return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(from.timeMs).toISOString() };
}
