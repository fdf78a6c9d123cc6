import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject, purgeSubject, readNext } from '../../../shared/nats/messages/subject-log.ts';
import type { ConsumerProgress, StreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { findSeqAt } from '../../../shared/nats/messages/find-seq-at.ts';
import { listConsumerProgress, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { eventsOfAccount, eventsOfAll } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { every } from '../../../shared/runtime/every.ts';
import type { DeadLetterQuota } from './dead-letter-quota.ts';
import type { RetentionSettings } from './retention-settings.ts';
import { createMeanSizes } from './mean-sizes.ts';
import type { MeanSizes } from './mean-sizes.ts';
import { passOversBySize } from './waiting-window.ts';
import { createRetentionClock } from './retention-clock.ts';
import type { AccountWaiting, PassOver } from './waiting-window.ts';

/** The readers of waiting events; retention makes them skip events that wait too long. */
export type WaitingReaders = {
  /**
   * Whether a consumer of EVENTS delivers to a destination, and so records what it skips; the other consumers only
   * gather statistics.
   */
  delivers(consumer: string): boolean;
  /**
   * The consumers that an account's destinations should have now. Some of them may not exist yet: a restarted log
   * server lacks them until their readers reconnect. Undefined while the account's destinations are unknown.
   */
  wanted(accountId: string): readonly string[] | undefined;
  /** The oldest sequence of EVENTS that retries of an account's destinations refer to. */
  oldestReference(accountId: string): Promise<number | undefined>;
  /** Makes the reader skip up to a sequence, if it runs in this process. */
  passOver(consumer: string, upToSeq: number): void;
};

export type RetentionOptions = {
  readonly connection: LogConnection;
  readonly settings: RetentionSettings;
  readonly readers: WaitingReaders;
  /** Checks whether an account has more dead letters than its quota. */
  readonly deadLetters: Pick<DeadLetterQuota, 'look'>;
  readonly logger: Logger;
};

export type Retention = {
  /** Messages removed since the start, by stream. */
  readonly removed: ReadonlyMap<string, number>;
  /** Newest state of INGEST and of EVENTS, by stream. */
  readonly states: ReadonlyMap<string, StreamState>;
  /** Number of readers whose backlog was too old, or too large for their account's quota, at the last check. */
  readonly late: number;
  stop(): Promise<void>;
};

type StreamEnd = { readonly lastSeq: number; readonly atMs: number };
const noEnd: StreamEnd = { lastSeq: 0, atMs: -Infinity };
/** Time after which a stored message is certainly reported as waiting by every consumer, in ms. */
const settledMs = 1_000;

/**
 * While INGEST is filled beyond the share `ingestFilling` of its limit, it is cleaned at this interval, in ms, because
 * gateways count its bytes as waiting events.
 */
const ingestEveryMs = 1_000;
const ingestFilling = 1 / 8;

/**
 * Interval at which the server looks up the first sequence that is young enough for history, in ms. It is long, because
 * history is counted in days.
 */
const ageEveryMs = 600_000;

/**
 * Makes room in the log. In INGEST it removes frames that the resolver has finished. In EVENTS it removes frames that
 * every destination of the account has finished, once they are too old or room is needed. If a destination has not
 * finished a frame, or perhaps has not, because its consumer is missing, the frame stays for the waiting time, within
 * the account's quota. After that the destination skips the frame, which becomes history.
 */
export function startRetention({ connection, settings, readers, deadLetters, logger }: RetentionOptions): Retention {
  const removed = new Map<string, number>();
  const states = new Map<string, StreamState>();
  let agedSeq = 0;
  let agedAtMs = -Infinity;
  let triedFrom = 0;
  let lookedForLateAtMs = -Infinity;
  let [overAgeNow, overShareNow] = [0, 0];
  const clock = createRetentionClock((jumpMs) =>
    logger.error(
      { hours: Math.round(jumpMs / 3_600_000) },
      'the clock was set forward; the age of events is measured without this jump. Correct the clock or, if it is right, restart this pipeline',
    ),
  );
  const sizes = createMeanSizes(connection, streams.events);
  // Two readings of the end of EVENTS; the first is at least `settledMs` older than the second.
  let ends: readonly [StreamEnd, StreamEnd] = [noEnd, noEnd];

  const remove = async (stream: string, subject: string, beforeSeq: number): Promise<void> => {
    const purged = await purgeSubject(connection, stream, subject, beforeSeq);
    removed.set(stream, (removed.get(stream) ?? 0) + purged);
  };

  const cleanIngest = async (): Promise<void> => {
    const state = await readStreamState(connection, streams.ingest);
    states.set(streams.ingest, state);
    if (state.messages === 0) return;
    for (const [subject, consumers] of bySubject(await listConsumerProgress(connection, streams.ingest))) {
      const finished = finishedSeq(consumers, 0);
      if (finished !== undefined && finished >= state.firstSeq) await remove(streams.ingest, subject, finished + 1);
    }
  };

  const cleanEvents = async (): Promise<void> => {
    const state = await readStreamState(connection, streams.events);
    states.set(streams.events, state);
    if (performance.now() - ends[1].atMs > settledMs) {
      ends = [ends[1], { lastSeq: state.lastSeq, atMs: performance.now() }];
    }
    // The earlier of two machines' clocks, because seldom are both ahead of time together.
    const nowMs = clock({ wallMs: Math.min(Date.now(), state.serverMs), monotonicMs: performance.now() });
    if (state.messages === 0) return;
    if (performance.now() - agedAtMs > ageEveryMs) {
      agedSeq = await findSeqAt(connection, streams.events, nowMs - settings.historyMs);
      agedAtMs = performance.now();
    }
    const bySize = keepFromBySize(state, settings.marks, triedFrom);
    triedFrom = bySize > state.firstSeq ? bySize : 0;
    const keepFrom = Math.max(agedSeq, bySize);
    const isLookDue = performance.now() - lookedForLateAtMs > Math.min(ageEveryMs, settings.waitingMs / 10);
    const isOverQuota = state.bytes > (state.bytesMax ?? Infinity) * settings.quotas.account;
    if (!isOverQuota) overShareNow = 0;
    if (keepFrom <= state.firstSeq && !isOverQuota && !isLookDue) return;
    const consumers = await listConsumerProgress(connection, streams.events);
    const bySizeNow = isOverQuota ? await overShare(consumers, { state, settings, sizes }) : [];
    const byAgeNow = isLookDue ? await overAge(connection, consumers, nowMs - settings.waitingMs) : [];
    overShareNow = bySizeNow.length;
    if (isLookDue) {
      lookedForLateAtMs = performance.now();
      overAgeNow = byAgeNow.length;
    }
    const passOvers = [...bySizeNow, ...byAgeNow];
    for (const { reader, upToSeq } of passOvers) {
      if (readers.delivers(reader)) readers.passOver(reader, upToSeq);
      else
        logger.warn(
          { consumer: reader, upToSeq },
          'a results reader is too far behind; retention does not wait for it',
        );
    }
    if (keepFrom <= state.firstSeq) return;
    const finishers = bySubject(consumers.map((consumer) => behind(consumer, passOvers, readers)));
    const settledSeq = ends[0].lastSeq;
    const names = new Set(consumers.map(({ name }) => name));
    for (const [accountId, { subject, messages }] of await accountSubjects(connection)) {
      if (readers.wanted(accountId)?.every((name) => names.has(name)) !== true) continue;
      const finished = finishedSeq(finishers.get(subject) ?? [], settledSeq);
      // Read after the consumers, because a position is stored before the frames that it covers are acknowledged.
      const referred = mayHold(state, messages, settings) ? await readers.oldestReference(accountId) : undefined;
      const before = Math.min(keepFrom, (finished ?? Infinity) + 1, referred ?? Infinity);
      if (before > state.firstSeq) await remove(streams.events, subject, before);
    }
  };

  const warn = (error: unknown): void => {
    if (connection.connected) logger.warn({ err: error }, 'removing old messages from the log failed');
  };
  const work = async (): Promise<void> => {
    for (const clean of [cleanIngest, cleanEvents, () => deadLetters.look()]) await clean().catch(warn);
  };
  const working = every(settings.everyMs, () => {
    if (connection.connected) return work();
  });
  const isIngestFilling = (): boolean => {
    const { bytes = 0, bytesMax = Infinity } = states.get(streams.ingest) ?? {};
    return connection.connected && bytes > bytesMax * ingestFilling;
  };
  const cleaning = every(ingestEveryMs, () => {
    if (isIngestFilling()) return cleanIngest().catch(warn);
  });
  return {
    removed,
    states,
    get late() {
      return Math.max(overAgeNow, overShareNow);
    },
    async stop() {
      await Promise.all([working.stop(), cleaning.stop()]);
    },
  };
}

/**
 * The consumer as retention sees it. Retention does not wait for a reader that only gathers statistics: the frames that
 * it should skip count as acknowledged.
 */
function behind(
  consumer: ConsumerProgress,
  passOvers: readonly PassOver[],
  { delivers }: Pick<WaitingReaders, 'delivers'>,
): ConsumerProgress {
  const own = passOvers.filter(({ reader }) => reader === consumer.name).map(({ upToSeq }) => upToSeq);
  return own.length === 0 || delivers(consumer.name)
    ? consumer
    : { ...consumer, ackedSeq: Math.max(consumer.ackedSeq, ...own) };
}

const isBehind = ({ waiting, unacknowledged }: ConsumerProgress): boolean => waiting + unacknowledged > 0;
/** Maximum number of accounts whose message sizes are sampled; accounts with the most waiting frames come first. */
const accountsSampledMax = 64;

/** Readers whose backlog is larger than their account's quota. */
async function overShare(
  consumers: readonly ConsumerProgress[],
  { state, settings: { quotas, marks }, sizes }: QuotaLook,
): Promise<PassOver[]> {
  const { bytes, bytesMax = Infinity, messages, lastSeq } = state;
  const framesOf = (readers: readonly ConsumerProgress[]): number =>
    Math.max(...readers.map(({ waiting, unacknowledged }) => waiting + unacknowledged));
  const accounts = [
    ...bySubject(consumers.filter((one) => isBehind(one) && one.filterSubject !== eventsOfAll)),
  ].toSorted(([, a], [, b]) => framesOf(b) - framesOf(a));
  sizes.keep(new Set(accounts.map(([subject]) => subject)));
  const waiting: AccountWaiting[] = [];
  for (const [index, [subject, readers]] of accounts.entries()) {
    const from = Math.min(...readers.map(({ ackedSeq }) => ackedSeq)) + 1;
    const sampled = index < accountsSampledMax ? await sizes.look(subject, from, lastSeq + 1) : undefined;
    waiting.push({ readers, meanBytes: sampled ?? bytes / Math.max(1, messages) });
  }
  return passOversBySize(waiting, { accountMax: bytesMax * quotas.account, capacity: bytesMax * marks.high, lastSeq });
}

type QuotaLook = {
  readonly state: StreamState;
  readonly settings: Pick<RetentionSettings, 'quotas' | 'marks'>;
  readonly sizes: MeanSizes;
};

/** Readers whose oldest event has waited for too long. */
async function overAge(
  connection: LogConnection,
  consumers: readonly ConsumerProgress[],
  beforeMs: number,
): Promise<PassOver[]> {
  const lateBefore = await findSeqAt(connection, streams.events, Math.max(0, beforeMs));
  const found: PassOver[] = [];
  for (const { name, filterSubject, ackedSeq } of consumers.filter(isBehind)) {
    if (ackedSeq + 1 >= lateBefore || filterSubject === eventsOfAll) continue;
    const oldest = await readNext(connection, streams.events, filterSubject, ackedSeq + 1);
    if (oldest !== undefined && oldest.seq < lateBefore) found.push({ reader: name, upToSeq: lateBefore - 1 });
  }
  return found;
}

/**
 * Whether EVENTS keeps the events that an account's retries refer to. It keeps them if the account is within its quota,
 * and half of the room above the high mark is still free.
 */
function mayHold(
  { bytes, messages, bytesMax = Infinity }: StreamState,
  ofAccount: number,
  { quotas, marks }: RetentionSettings,
): boolean {
  const used = (bytes / Math.max(1, messages)) * ofAccount;
  return used <= bytesMax * quotas.account && bytes <= bytesMax * ((marks.high + 1) / 2);
}

type AccountEvents = { readonly subject: string; messages: number };

/** The filter of each account's subjects in EVENTS and its number of messages, by account. */
async function accountSubjects(connection: LogConnection): Promise<Map<string, AccountEvents>> {
  const accounts = new Map<string, AccountEvents>();
  for (const [subject, messages] of await countBySubject(connection, streams.events, 'events.*.*')) {
    const accountId = subject.split('.')[1] ?? '';
    const known = accounts.get(accountId);
    if (known === undefined) accounts.set(accountId, { subject: eventsOfAccount(accountId), messages });
    else known.messages += messages;
  }
  return accounts;
}

function bySubject(consumers: readonly ConsumerProgress[]): Map<string, ConsumerProgress[]> {
  const groups = new Map<string, ConsumerProgress[]>();
  for (const consumer of consumers) {
    const group = groups.get(consumer.filterSubject);
    if (group === undefined) groups.set(consumer.filterSubject, [consumer]);
    else group.push(consumer);
  }
  return groups;
}

/** Share of a stream's limit above which history is removed, and the share to which the stream then shrinks. */
type WaterMarks = { readonly high: number; readonly low: number };

/**
 * The sequence up to which all consumers of a subject have finished it; undefined if there are no consumers.
 * Acknowledgements are certain, but a consumer may report that nothing waits although a message was just stored. So a
 * consumer without acknowledgements counts as finished only up to `settledSeq`, which was the end of the stream a while
 * ago.
 */
export function finishedSeq(
  consumers: readonly Pick<ConsumerProgress, 'ackedSeq' | 'waiting' | 'unacknowledged'>[],
  settledSeq: number,
): number | undefined {
  if (consumers.length === 0) return undefined;
  return Math.min(
    ...consumers.map(({ ackedSeq, waiting, unacknowledged }) =>
      ackedSeq === 0 && waiting + unacknowledged === 0 ? settledSeq : ackedSeq,
    ),
  );
}

/**
 * The first sequence to keep so that a stream above its high mark shrinks to its low mark, if all messages have the
 * same size. `triedFrom` is the previous result: if the stream did not shrink then, because a reader has not finished
 * those messages, younger history is removed.
 */
export function keepFromBySize(
  state: Omit<StreamState, 'createdAt' | 'serverMs'>,
  { high, low }: WaterMarks,
  triedFrom: number,
): number {
  if (state.bytesMax === undefined || state.messages === 0 || state.bytes <= state.bytesMax * high)
    return state.firstSeq;
  const share = (state.bytes - state.bytesMax * low) / state.bytes;
  const from = Math.max(state.firstSeq, triedFrom);
  return from + Math.ceil(share * (state.lastSeq - from + 1));
}
