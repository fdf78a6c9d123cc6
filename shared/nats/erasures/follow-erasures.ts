import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { accountOfErasures, accountOfWithdrawals, erasuresOfAll, withdrawalsOfAll } from '../../contracts/subjects.ts';
import { decodeWithdrawalNotice } from '../../contracts/withdrawal-notice.ts';
import { decodeErasureNotice } from '../../contracts/erasure-notice.ts';
import { every, tickMs } from '../../runtime/every.ts';
import { isWorthTelling } from '../../runtime/retry.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readMessages } from '../messages/read-messages.ts';
import { readErasuresState, readWithdrawalsState, streams } from '../streams/topology.ts';
import type { WithdrawalsState } from '../streams/topology.ts';
import type { LogMessage } from '../messages/log-message.ts';
import { KnownErasures } from './known-erasures.ts';
import type { ReceivedEvent } from './known-erasures.ts';
import { KnownWithdrawals } from './known-withdrawals.ts';
import type { LastWords } from './known-withdrawals.ts';

/** Erased visitors and withdrawn consents, checked before each attempt to send an event. */
export type Erasures = {
  /**
   * Whether all erasures and withdrawals that were announced more than a second ago are known (on a slow log, more than
   * some seconds ago, see `currentUntil`). While this is false, nothing is sent. It is false at the start, and while
   * the log does not answer: such a log could not store the outcome either.
   */
  readonly isCurrent: boolean;
  /** Whether an event's visitor was erased after the event was received. */
  isErased(accountId: string, event: ReceivedEvent): boolean;
  /** The visitor's last consents; undefined if the visitor has withdrawn nothing. */
  lastWords(accountId: string, event: ReceivedEvent): LastWords | undefined;
};

export type FollowedErasures = Erasures & {
  /** `isErased` for a parsed event. */
  isEventErased(event: ResolvedEvent): boolean;
  /** Resolves once `isCurrent` is true; rejects with the signal's reason. */
  untilCurrent(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

export type FollowErasuresOptions = {
  readonly connection: LogConnection;
  /**
   * Called for the third failed try in a row and for every 60th, unless the connection is lost. Also called for an
   * answer that took too long. Failed tries are repeated.
   */
  onError(error: unknown): void;
  /**
   * Polls the log only during calls of `untilCurrent` and for some seconds afterwards: for a process that rarely needs
   * it. Default false.
   */
  readonly isOnDemand?: boolean;
};

/** How far a stream was read. */
type Position = { readonly createdAt: string; readTo: number };

type Known = {
  readonly erasures: KnownErasures;
  readonly erasuresRead: Position;
  readonly withdrawals: KnownWithdrawals;
  readonly withdrawalsRead: Position;
};

/** Within this time, in ms, an erasure or a withdrawal stops every event that is not yet on the wire. */
export const erasureHoldsWithinMs = 1_000;
/** If the log takes longer to answer, in ms, sending waits for it. */
const answerMaxMs = 5_000;
/** Each tick of the thread polls the log: twice a second. */
const everyMs = tickMs;
/** On demand, polling continues this long after the last use, in ms. */
const demandMs = 10_000;
const forgetEveryMs = 3_600_000;
const keptMs = 365 * 86_400_000;
const messagesPerPull = 256;
const silenceMaxMs = 10_000;

/**
 * Follows the streams of erasures and withdrawn consents. Their leaders are asked for the last sequence twice a second:
 * an answer proves that every message stored before the request is known. Waiting for messages would prove nothing
 * while no messages arrive.
 */
export function followErasures({ connection, onError, isOnDemand = false }: FollowErasuresOptions): FollowedErasures {
  let known: Known | undefined;
  let currentUntilMs = -Infinity;
  let forgotAtMs = performance.now();
  let wantedUntilMs = isOnDemand ? -Infinity : Infinity;
  let failures = 0;
  const aborting = new AbortController();
  const isCurrent = (): boolean => performance.now() < currentUntilMs;

  const look = async (): Promise<void> => {
    const askedAtMs = performance.now();
    const [erased, withdrawn] = await Promise.all([readErasuresState(connection), readWithdrawalsState(connection)]);
    const next: Known = {
      ...(known !== undefined && isSame(known.erasuresRead, erased)
        ? known
        : { erasures: new KnownErasures(erased.key), erasuresRead: start(erased) }),
      ...(known !== undefined && isSame(known.withdrawalsRead, withdrawn)
        ? { withdrawals: known.withdrawals, withdrawalsRead: known.withdrawalsRead }
        : { withdrawals: new KnownWithdrawals(withdrawn.key), withdrawalsRead: start(withdrawn) }),
    };
    await readErasures(next, erased.lastSeq);
    await readWithdrawals(next, withdrawn);
    known = next;
    const answeredAtMs = performance.now();
    currentUntilMs = currentUntil(askedAtMs, answeredAtMs);
    const tookMs = Math.round(answeredAtMs - askedAtMs);
    if (tookMs > answerMaxMs)
      onError(new Error(`the log took ${tookMs} ms to report erasures; sending pauses while they are unknown`));
  };

  const read = async (stream: FollowedStream, position: Position, lastSeq: number): Promise<void> => {
    if (lastSeq <= position.readTo) return;
    await readMessages(connection, {
      stream: stream.name,
      filterSubject: stream.filterSubject,
      from: { seq: position.readTo + 1, toSeq: lastSeq },
      content: 'all',
      messagesPerPull,
      silenceMaxMs,
      signal: aborting.signal,
      onMessage(message) {
        stream.take(message);
        position.readTo = message.seq;
      },
    });
    position.readTo = Math.max(position.readTo, lastSeq);
  };

  const readErasures = ({ erasures, erasuresRead }: Known, lastSeq: number): Promise<void> => {
    const take = ({ subject, data }: LogMessage): void => {
      const notice = decodeErasureNotice(data);
      // Without this notice the process would send events of erased visitors.
      if (notice === undefined) throw new Error('an erasure notice has a version that this build does not know');
      erasures.take(accountOfErasures(subject), notice);
    };
    return read({ name: streams.erasures, filterSubject: erasuresOfAll, take }, erasuresRead, lastSeq);
  };

  /** The notices of each account since the last complete reading. */
  const noticesRead = new Map<string, { readonly firstAtMs: number; readonly count: number }>();
  const readWithdrawals = async (
    { withdrawals, withdrawalsRead }: Known,
    { lastSeq, ofAccountMax }: WithdrawalsState,
  ): Promise<void> => {
    const lastRead = withdrawalsRead.readTo;
    let isFirst = true;
    const take = ({ subject, data, seq, storedAtMs }: LogMessage): void => {
      const notice = decodeWithdrawalNotice(data);
      if (notice === undefined) throw new Error('a withdrawal notice has a version that this build does not know');
      // No account's limit removes the stream's first notice: without it, notices of any account may be missing.
      if (isFirst && seq > lastRead + 1) withdrawals.forgetUntil(storedAtMs);
      isFirst = false;
      const accountId = accountOfWithdrawals(subject);
      const { firstAtMs, count } = noticesRead.get(accountId) ?? { firstAtMs: storedAtMs, count: 0 };
      noticesRead.set(accountId, { firstAtMs, count: count + 1 });
      // The limit may have removed older notices. Half of it counts, since it may remove more while the thread reads.
      if (count + 1 >= ofAccountMax / 2) withdrawals.forgetUntil(firstAtMs, accountId);
      withdrawals.take(accountId, notice);
    };
    await read({ name: streams.withdrawals, filterSubject: withdrawalsOfAll, take }, withdrawalsRead, lastSeq);
    noticesRead.clear();
  };

  const follow = async (): Promise<void> => {
    if (performance.now() > wantedUntilMs || !connection.connected) return;
    try {
      await look();
      failures = 0;
    } catch (error) {
      if (aborting.signal.aborted || !connection.connected) return;
      failures += 1;
      if (isWorthTelling(failures)) onError(error);
    }
    if (performance.now() - forgotAtMs < forgetEveryMs) return;
    forgotAtMs = performance.now();
    known?.erasures.forget(Date.now() - keptMs);
  };
  let asking: Promise<void> | undefined;
  const ask = (): Promise<void> =>
    (asking ??= follow().finally(() => {
      asking = undefined;
    }));
  const following = every(everyMs, ask, { atOnce: true });

  const isErased: Erasures['isErased'] = (accountId, event) => known?.erasures.isErased(accountId, event) === true;
  return {
    get isCurrent() {
      return isCurrent();
    },
    isErased,
    lastWords: (accountId, event) => known?.withdrawals.lastWords(accountId, event),
    isEventErased: ({ event, visitor }) =>
      isErased(event.account_id, { visitorId: visitor.id, receivedAtMs: event.received_at }),
    async untilCurrent(signal) {
      if (isOnDemand) wantedUntilMs = performance.now() + demandMs;
      if (!isCurrent()) await ask();
      while (!isCurrent()) {
        signal.throwIfAborted();
        if (isOnDemand) wantedUntilMs = performance.now() + demandMs;
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    },
    async stop() {
      aborting.abort(new Error('erasures are not followed any more'));
      await following.stop();
    },
  };
}

/**
 * Until when an answer of the log is trusted, in ms: a second after the request, plus twice the time that the answer
 * took, so that the next answer arrives before then. Otherwise a log that takes over a second for each answer would
 * stop every dispatcher for good. An erasure is announced before it is done and again before it is confirmed. On a slow
 * log each announcement is slow too, so the erasure still holds within a second of its confirmation.
 */
export const currentUntil = (askedAtMs: number, answeredAtMs: number): number =>
  askedAtMs + erasureHoldsWithinMs + 2 * Math.min(answeredAtMs - askedAtMs, answerMaxMs);

type FollowedStream = {
  readonly name: string;
  readonly filterSubject: string;
  take(message: LogMessage): void;
};

/**
 * Whether reading continues at a position. A stream that was created again, or restored from a copy that lacks its end,
 * is read from its beginning.
 */
const isSame = (position: Position, state: { readonly createdAt: string; readonly lastSeq: number }): boolean =>
  position.createdAt === state.createdAt && state.lastSeq >= position.readTo;

const start = ({ createdAt }: { readonly createdAt: string }): Position => ({ createdAt, readTo: 0 });
