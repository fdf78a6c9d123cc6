import { createHash } from 'node:crypto';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { FollowedErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { StoredMessage } from '../../../shared/nats/messages/subject-log.ts';
import { deleteMessage, readNext } from '../../../shared/nats/messages/subject-log.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import { eventUnits } from '../../workers/worker/turns.ts';
import type { Turns } from '../../workers/worker/turns.ts';
import type { ReplayNotes, ReplayNotesOptions } from './replay-notes.ts';
import { ReplayEndedError, createReplayNotes } from './replay-notes.ts';
import type { DeadLetterFilter } from '../../../shared/contracts/events/dead-letter.ts';
import {
  clockSlackMs,
  decodeDeadLetter,
  lineOfDeadLetter,
  matchesFilter,
} from '../../../shared/contracts/events/dead-letter.ts';
import { eventKey } from '../../../shared/contracts/events/event-origin.ts';
import type { EventOrigin } from '../../../shared/contracts/events/event-origin.ts';
import { readResolvedEvents } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { findSeqAt } from '../../../shared/nats/messages/find-seq-at.ts';
import { readStreamState, readSubjects } from '../../../shared/nats/streams/stream-progress.ts';
import { deadLetterSubject, eventsOfAccount, retrySubject } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { encodeRetryRecord, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { crowdBackoff } from '../../../shared/runtime/retry.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';

export type ReplayContext = ReplayNotesOptions & {
  readonly connection: LogConnection;
  /** Tells which visitors are erased: none of their events is sent again. */
  readonly erasures: Pick<FollowedErasures, 'isEventErased' | 'untilCurrent'>;
  /** The turns in which the replay reads and writes. */
  readonly turns: Turns;
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
};

/** Maximum number of events to send, and of messages to read, between two records of progress. */
const eventsPerBatch = 256;
const scannedPerBatch = 500;

/**
 * Runs a replay from the position at which it stopped: reads its events and puts them into the retry log for the
 * destination's dispatcher. Requests have the same ids as before. If interrupted, it repeats at most one batch. Returns
 * when it is finished, or when this instance no longer runs it.
 */
export async function runReplay(context: ReplayContext, claimed: ReplayJob, revision: number): Promise<void> {
  const notes = createReplayNotes(context, claimed, revision);
  try {
    await work(context, notes);
  } catch (error) {
    if (!(error instanceof ReplayEndedError)) throw error;
  } finally {
    notes.stop();
  }
}

async function work(context: ReplayContext, notes: ReplayNotes): Promise<void> {
  const { connection, erasures, turns } = context;
  const signal = AbortSignal.any([context.signal, notes.ended]);
  const source = replaySourceOf(connection, notes.job);
  if (notes.job.nextSeq === undefined) {
    const { nextSeq, endSeq } = await source.range();
    await notes.put({ firstSeq: nextSeq, nextSeq, endSeq });
  }
  for (;;) {
    const { nextSeq = 1, endSeq = 0, scanned, queued } = notes.job;
    const batch = await collect({ connection, erasures, turns, signal }, source, { nextSeq, endSeq });
    if (batch.scanned === 0) break;
    await queueEvents({ connection, turns, signal }, notes.job, batch.events);
    if (source.isConsumed) await removeAll(connection, source.stream, [...batch.events, ...batch.erased]);
    const progress = { scanned: scanned + batch.scanned, queued: queued + batch.events.length };
    await notes.put({ ...progress, nextSeq: batch.nextSeq });
  }
  await notes.put({ state: 'done' });
}

/** What the steps of a replay use from its context. */
type Working = Pick<ReplayContext, 'connection' | 'turns' | 'signal'>;
type Collecting = Working & Pick<ReplayContext, 'erasures'>;

type Range = { readonly nextSeq: number; readonly endSeq: number };
type Batch = {
  readonly events: readonly ReplayedEvent[];
  /** Events of visitors who have been erased since the events were stored; they are not sent. */
  readonly erased: readonly ReplayedEvent[];
  readonly scanned: number;
  readonly nextSeq: number;
};

/** Reads until there are enough events for a write, or until progress should be recorded. */
async function collect(
  { connection, erasures, turns, signal }: Collecting,
  source: ReplaySource,
  range: Range,
): Promise<Batch> {
  const events: ReplayedEvent[] = [];
  const erased: ReplayedEvent[] = [];
  await erasures.untilCurrent(signal);
  let { nextSeq } = range;
  let scanned = 0;
  while (events.length < eventsPerBatch && scanned < scannedPerBatch) {
    signal.throwIfAborted();
    const message = await readNext(connection, source.stream, source.subject, nextSeq);
    if (message === undefined || message.seq > range.endSeq) break;
    for (const read of source.events(message)) {
      const taken = erasures.isEventErased(read.event) ? erased : events;
      if (!read.event.event.test) taken.push({ seq: message.seq, ...read });
      const over = turns.spend(eventUnits + read.characters);
      if (over !== undefined) await over;
    }
    scanned += 1;
    nextSeq = message.seq + 1;
  }
  return { events, erased, scanned, nextSeq };
}

async function removeAll(connection: LogConnection, stream: string, events: readonly ReplayedEvent[]): Promise<void> {
  for (const seq of new Set(events.map((event) => event.seq))) await deleteMessage(connection, stream, seq);
}

/** Where a replay reads its events. */
type ReplaySource = {
  readonly stream: string;
  readonly subject: string;
  /**
   * The range of sequences to read, fixed when the replay starts: later messages are not part of it, even those that
   * the replay itself causes.
   */
  range(): Promise<{ readonly nextSeq: number; readonly endSeq: number }>;
  /** The events of a message that are to be sent again, with the lengths of their lines, read lazily. */
  events(message: StoredMessage): Iterable<ReadEvent>;
  /** Whether a message is removed from its stream once its events are in the retry log. */
  readonly isConsumed: boolean;
};

function replaySourceOf(connection: LogConnection, { destinationId, accountId, request }: ReplayJob): ReplaySource {
  switch (request.what) {
    case 'dead-letters':
      return {
        stream: streams.deadLetters,
        subject: deadLetterSubject(destinationId),
        isConsumed: true,
        range: async () => {
          const { lastSeq } = await readStreamState(connection, streams.deadLetters);
          const { fromMs } = request;
          const { deadLetters } = streams;
          const fromSeq = fromMs === undefined ? 1 : await findSeqAt(connection, deadLetters, earlier(fromMs));
          const first = await readNext(connection, deadLetters, deadLetterSubject(destinationId), fromSeq);
          return { nextSeq: first?.seq ?? lastSeq + 1, endSeq: lastSeq };
        },
        events: ({ data }) => deadLetterEvents(data, request),
      };
    case 'log':
      return {
        stream: streams.events,
        subject: eventsOfAccount(accountId),
        isConsumed: false,
        range: async () => ({
          nextSeq: await findSeqAt(connection, streams.events, request.fromMs),
          endSeq: (await findSeqAt(connection, streams.events, request.toMs)) - 1,
        }),
        events: loggedEvents,
      };
  }
}

function* loggedEvents({ seq, data }: StoredMessage): Generator<ReadEvent, void, undefined> {
  for (const { event, line, characters } of readResolvedEvents(data))
    yield { event, origin: { seq, line }, characters, line: undefined };
}

function* deadLetterEvents(data: Uint8Array, filter: DeadLetterFilter): Generator<ReadEvent, void, undefined> {
  const letter = decodeDeadLetter(data);
  if (letter === undefined || !matchesFilter(letter, filter)) return;
  const line = lineOfDeadLetter(data);
  if (line !== undefined) yield { event: letter.event, origin: letter.origin, characters: data.length, line };
}

function earlier(timeMs: number): number {
  return Math.max(0, timeMs - clockSlackMs);
}

type ReadEvent = {
  readonly event: ResolvedEvent;
  /** Undefined for dead letters of earlier builds. */
  readonly origin: EventOrigin | undefined;
  readonly characters: number;
  /** The stored line of a dead letter's event, which EVENTS may no longer have. */
  readonly line: string | undefined;
};

/** An event of a replay, and the sequence of the message that contains it. */
type ReplayedEvent = ReadEvent & { readonly seq: number };

/**
 * Maximum number of replayed frames in the retry log for one destination, because all destinations share the log. The
 * destination's thread reads one frame at a time, while its other actors wait.
 */
export const framesWaitingMax = 64;
const frameBytesMax = 64 * 1024;
/** Replays wait while more than this share of the retry log is used, to leave room for events that have just failed. */
const retryLogShareMax = 0.7;
const roomEveryMinMs = 100;
const roomEveryMaxMs = 2_000;

/**
 * Puts events into the retry log for the dispatcher of a destination, and waits while there is no room. A frame's
 * message id is a digest of its events, so that the log recognises a repeated frame as a duplicate. The number of the
 * frame in the replay would not work as an id: once events are removed, the same number would stand for other events.
 */
export async function queueEvents(
  { connection, turns, signal }: Working,
  { id, destinationId }: ReplayJob,
  events: readonly ReplayedEvent[],
): Promise<void> {
  const subject = retrySubject(destinationId, replayTier);
  for await (const { payload, digest } of framesOf(events, turns)) {
    await waitForRoom(connection, subject, signal);
    const msgId = `replay.${id}.${digest}`;
    await publishWithRetry(connection, { subject, payload, msgId }, { signal, backoff: crowdBackoff });
  }
  signal.throwIfAborted();
}

type Frame = { readonly payload: Uint8Array; readonly digest: string };

async function* framesOf(events: readonly ReplayedEvent[], turns: Turns): AsyncGenerator<Frame, void, undefined> {
  const nowMs = Date.now();
  const times = { firstAttemptAt: nowMs, lastAttemptAt: nowMs, notBefore: nowMs };
  const writer = new FrameWriter();
  let digest = createHash('sha256');
  const close = (): Frame => {
    const frame = { payload: writer.bytes(), digest: digest.digest('base64url') };
    writer.reset();
    digest = createHash('sha256');
    return frame;
  };
  for (const { seq, origin, event, characters: bytes, line: copied } of events) {
    const { id: eventId, received_at: receivedAt } = event.event;
    const about = { visitorId: event.visitor.id, eventId, receivedAt, bytes };
    const own = { ...(origin === undefined ? {} : { origin }), ...(copied === undefined ? {} : { line: copied }) };
    const line = encodeRetryRecord({ attempts: 0, ...times, reason: 'replay', ...about, ...own });
    if (writer.length > 0 && writer.length + line.length > frameBytesMax) yield close();
    writer.appendLine(line);
    digest.update(`${seq}\n${eventKey(event.event.id, origin)}\n`);
    const over = turns.spend(eventUnits + line.length);
    if (over !== undefined) await over;
  }
  if (writer.length > 0) yield close();
}

async function waitForRoom(connection: LogConnection, subject: string, signal: AbortSignal): Promise<void> {
  for (let everyMs = roomEveryMinMs; ; everyMs = Math.min(everyMs * 2, roomEveryMaxMs)) {
    signal.throwIfAborted();
    const { state, messages } = await readSubjects(connection, streams.retry, subject);
    const isLogFilling = state.bytes > (state.bytesMax ?? Infinity) * retryLogShareMax;
    if (!isLogFilling && (messages.get(subject) ?? 0) < framesWaitingMax) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
