import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, ReplayPolicy, nanos } from 'nats';
import type { ConsumerConfig, ConsumerInfo } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNotFound, serverErrorCode, serverErrors } from '../connection/server-error.ts';
import { readAt, readNext } from '../messages/subject-log.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import type { FinishedMessages } from './taken-messages.ts';

/** Where a new durable consumer begins: the oldest message kept, only what comes next, or a point. */
export type StartFrom = 'first' | 'next' | { readonly seq: number } | { readonly timeMs: number };

export type DurableConsumer = {
  readonly stream: string;
  readonly name: string;
  readonly filterSubject: string;
  /** Used only when the consumer is created; an existing consumer keeps its position. */
  readonly startFrom: StartFrom;
  /** After this long without ack or progress a message is delivered again, in ms. */
  readonly ackWaitMs: number;
  /** Messages delivered and not yet acknowledged, at most. */
  readonly ackPendingMax: number;
  /** Who else stores what is acknowledged. By default the servers keep it on disk. */
  readonly placeIsKept?: PlaceKept;
};

/**
 * 'by-reader': the reader stores its position before it acknowledges anything, and restores it. 'by-ids': messages that
 * come again are recognised, at some cost. The servers keep what is acknowledged in memory then: on disk each consumer would
 * be synced up to twenty times a second, on a replicated stream each server would sync twice for each message. After a restart of the only server, or the loss of most at once, the consumer
 * is gone, and is created again.
 */
export type PlaceKept = 'nobody' | 'by-reader' | 'by-ids';

/**
 * What every durable consumer of ours has. A pull request names the group it is made for, and the server refuses those
 * of any other group than the consumer has now: the group is the fencing token of the reader that owns the consumer.
 */
export const consumerPolicy = {
  ack_policy: AckPolicy.Explicit,
  replay_policy: ReplayPolicy.Instant,
  // The server never drops a message: the dispatcher counts attempts.
  max_deliver: -1,
  priority_policy: 'overflow',
} as const;

/** How long a pull request waits at the server, in ms: so long may one of a reader that stands still take messages. */
export const pullExpiresMs = 3_000;

/** The same of one reader among very many. */
export const pullExpiresMaxMs = 10_000;

/** A consumer in the hands of one reader, who is given everything that is not acknowledged, in order. */
export type OwnedConsumer = {
  /** The group of the reader's pull requests. */
  readonly group: string;
  readonly isNew: boolean;
  /** Everything up to here is acknowledged, */
  readonly ackedSeq: number;
  /** as of then, in ms since the epoch: what was stored later is none of it. */
  readonly ackedAtMs: number;
  /** Up to here messages had been handed out before, */
  readonly handedOutSeq: number;
  /** and some of them were not acknowledged. */
  readonly wasUnfinished: boolean;
  /** What the next message counts as. */
  readonly nextConsumerSeq: number;
  /** Messages above what is acknowledged. */
  readonly unfinished: number;
};

export class ConsumerError extends Error {
  readonly code: string = 'consumer';
}

/** Another reader has taken the consumer over: this one has to end. */
export class ConsumerTakenError extends ConsumerError {
  override readonly code = 'consumer_taken';
}

/** What the client library does not know of. */
type Config = ConsumerConfig & { readonly priority_policy?: string; readonly priority_groups?: readonly string[] };
type Info = ConsumerInfo & { readonly ts?: string };

const requestTimeoutMs = 5_000;
const lookEveryMs = 50;

/**
 * What a consumer's readers had finished; undefined for nothing yet. `acked` is what the server knows of it, where it has
 * the consumer.
 */
export type FinishedBefore = (acked: FinishedMessages | undefined) => Promise<FinishedMessages | undefined>;

/**
 * Makes a durable consumer the caller's: its reader until now is given nothing any more, and what that one did not
 * acknowledge comes first, in the order of the stream. Makes the consumer when it is missing; an existing one gets the
 * limits given and keeps its place.
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
 * The same for a reader that keeps its own place: the consumer is made at it. `finishedBefore` is asked when earlier readers
 * are given nothing any more. Where the log does not have what it says was finished, the consumer begins at `startFrom`.
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
      finished: finished === undefined || startFrom === wanted.startFrom ? ackedOf(made) : finished,
    };
  } catch (error) {
    if (error instanceof ConsumerTakenError) throw error;
    throw new ConsumerError(`taking over consumer ${wanted.name}`, { cause: error });
  }
}

/** Creates a consumer that an earlier release kept on disk again, in memory, after what is acknowledged. */
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

/** From now on the server refuses the requests of every other group. */
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
 * Has everything above the acknowledged handed out again, to the reader whose group it is. Creates the consumer again when it
 * is gone, after what the reader has finished. Throws ConsumerTakenError when another reader owns it.
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
 * Has a consumer begin behind a sequence, whatever is not finished up to there: nothing of that is handed out any more. It is
 * returned as it was where the log does not reach so far. Throws ConsumerTakenError when another reader makes the
 * consumer meanwhile.
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

/** Whether the log has a message of the consumer between two sequences, these included. */
async function hasBetween(
  connection: LogConnection,
  { stream, filterSubject }: DurableConsumer,
  fromSeq: number,
  toSeq: number,
): Promise<boolean> {
  const next = await readNext(connection, stream, filterSubject, fromSeq);
  return next !== undefined && next.seq <= toSeq;
}

/** Whether all the log has up to the end of what is finished is that, so that a consumer may begin behind it. */
async function reachesTo(
  connection: LogConnection,
  wanted: DurableConsumer,
  { upTo, storedUntilMs }: FinishedMessages,
): Promise<boolean> {
  if (upTo === 0) return true;
  const last = await readAt(connection, wanted.stream, upTo);
  if (last !== undefined) return last.storedAtMs <= storedUntilMs;
  const { lastSeq } = await readStreamState(connection, wanted.stream);
  return lastSeq >= upTo && !(await hasBetween(connection, wanted, 1, upTo));
}

/** Throws ConsumerTakenError when the consumer is not the group's any more. A missing consumer belongs to no other reader. */
export async function confirmConsumer(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
  group: string,
): Promise<void> {
  const found = await findConsumer(connection, consumer);
  if (found !== undefined) assertOwned(found, group);
}

/** Deletes a durable consumer; one that is gone already is fine. */
export async function deleteConsumer(connection: LogConnection, stream: string, name: string): Promise<void> {
  try {
    await connection[client].jsm.consumers.delete(stream, name);
  } catch (error) {
    if (!isNotFound(error)) throw new ConsumerError(`deleting consumer ${name}`, { cause: error });
  }
}

/** Whether a consumer exists that has received no pull request and delivered no message for so long, in ms. */
export async function isUnread(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
  forMs: number,
): Promise<boolean> {
  const info = await findConsumer(connection, consumer);
  if (info === undefined) return false;
  // The client library says it is a number: the server sends a text, and nothing where none was given.
  const lastGivenMs = Date.parse(String(info.delivered.last_active ?? info.created));
  return info.num_waiting === 0 && Date.now() - lastGivenMs > forMs;
}

/** Whether pulls of a consumer wait for messages; false for one that is not there. */
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

/** The consumer as it is; where it is missing, it is created for the group, after what was finished, if anything was. */
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

/** Undefined when another reader was first. */
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
 * Resets a consumer to what is acknowledged, until nothing is handed out and no request waits. A request that was made before
 * stays good until it expires or its connection is gone, and may be given messages meanwhile: then it is reset again.
 */
async function resetConsumer(connection: LogConnection, found: ConsumerInfo, group: string): Promise<OwnedConsumer> {
  const { handedOutSeq, wasUnfinished } = ownedAs(found, group);
  const endMs = performance.now() + pullExpiresMaxMs + requestTimeoutMs;
  let info = found;
  while (info.num_ack_pending > 0 || info.num_waiting > 0) {
    if (performance.now() > endMs) throw new ConsumerError('other readers keep asking for its messages');
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
