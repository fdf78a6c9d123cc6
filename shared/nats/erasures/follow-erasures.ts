import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { accountOfErasures, erasuresOfAll } from '../../contracts/subjects.ts';
import { decodeErasureNotice } from '../../contracts/erasure-notice.ts';
import { every, tickMs } from '../../runtime/every.ts';
import { isWorthTelling } from '../../runtime/retry.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readMessages } from '../messages/read-messages.ts';
import { readErasuresState, streams } from '../streams/topology.ts';
import type { ErasuresState } from '../streams/topology.ts';
import { KnownErasures } from './known-erasures.ts';
import type { ReceivedEvent } from './known-erasures.ts';

/** Who was erased, which has to be known before each attempt to send an event. */
export type Erasures = {
  /**
   * Whether every erasure is known that was announced until a second ago. Nothing is sent while it is not: neither at the
   * start nor while the log does not answer, which could not store what became of it either.
   */
  readonly isCurrent: boolean;
  /** Whether an event's visitor was erased after the event was received. */
  isErased(accountId: string, event: ReceivedEvent): boolean;
};

export type FollowedErasures = Erasures & {
  /** Of an event that was read to its end. */
  isEventErased(event: ResolvedEvent): boolean;
  /** Settles once it is current; rejects with the signal's reason. */
  untilCurrent(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
};

export type FollowErasuresOptions = {
  readonly connection: LogConnection;
  /** Told of every try that failed, unless the connection is away; it is tried again. */
  onError(error: unknown): void;
};

type Known = Omit<ErasuresState, 'lastSeq'> & { readonly erasures: KnownErasures; readTo: number };

/** An erasure holds for all that is not on the wire after so long, in ms. */
export const erasureHoldsWithinMs = 1_000;
/** The ticks of the thread: two tries a second. */
const everyMs = tickMs;
const forgetEveryMs = 3_600_000;
const keptMs = 365 * 86_400_000;
const messagesPerPull = 256;
const silenceMaxMs = 10_000;

/**
 * Follows the stream of erasures. Its leader is asked what the last one is several times a second: an answer proves that
 * all that were stored when it was asked are known. To wait for messages would prove nothing while none come.
 */
export function followErasures({ connection, onError }: FollowErasuresOptions): FollowedErasures {
  let known: Known | undefined;
  let currentAsOfMs = -Infinity;
  let forgotAtMs = performance.now();
  let failures = 0;
  const aborting = new AbortController();
  const isCurrent = (): boolean => performance.now() - currentAsOfMs < erasureHoldsWithinMs;

  const look = async (): Promise<void> => {
    const askedAtMs = performance.now();
    const { lastSeq, ...state } = await readErasuresState(connection);
    // One that was made again, or restored from a copy that lacks its end, is read from its beginning.
    const isSame = known?.createdAt === state.createdAt && lastSeq >= known.readTo;
    const next: Known =
      known !== undefined && isSame ? known : { ...state, erasures: new KnownErasures(state.key), readTo: 0 };
    if (lastSeq > next.readTo) await read(next, lastSeq);
    known = next;
    currentAsOfMs = askedAtMs;
  };

  const read = async (into: Known, lastSeq: number): Promise<void> => {
    await readMessages(connection, {
      stream: streams.erasures,
      filterSubject: erasuresOfAll,
      from: { seq: into.readTo + 1 },
      content: 'all',
      messagesPerPull,
      silenceMaxMs,
      signal: aborting.signal,
      onMessage({ subject, data, seq }) {
        const notice = decodeErasureNotice(data);
        // Not to know of whom it tells is to send blind.
        if (notice === undefined) throw new Error('a notice of an erasure is of a version this build does not know');
        into.erasures.take(accountOfErasures(subject), notice);
        into.readTo = seq;
      },
    });
    into.readTo = Math.max(into.readTo, lastSeq);
  };

  const follow = async (): Promise<void> => {
    if (!connection.connected) return;
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
  const following = every(everyMs, follow, { atOnce: true });

  const isErased: Erasures['isErased'] = (accountId, event) => known?.erasures.isErased(accountId, event) === true;
  return {
    get isCurrent() {
      return isCurrent();
    },
    isErased,
    isEventErased: ({ event, visitor }) =>
      isErased(event.account_id, { visitorId: visitor.id, receivedAtMs: event.received_at }),
    async untilCurrent(signal) {
      while (!isCurrent()) {
        signal.throwIfAborted();
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    },
    async stop() {
      aborting.abort(new Error('erasures are not followed any more'));
      await following.stop();
    },
  };
}
