import { readEnvelope } from '../../contracts/events/envelope.ts';
import type { Envelope } from '../../contracts/events/envelope.ts';
import { quarantineHeaders, releasedLine } from '../../contracts/events/quarantine.ts';
import { ingestSubject, quarantineOfAccount, readQuarantineSubject } from '../../contracts/subjects.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readMessages } from '../messages/read-messages.ts';
import { deleteMessage } from '../messages/subject-log.ts';
import { publishWithRetry } from '../publish/publisher.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import { streams } from '../streams/topology.ts';

/** Selects quarantined events of an account: those that match every field that is set. */
export type QuarantineFilter = {
  readonly rule?: string | undefined;
  /** Selects events quarantined at or after this time, in ms since the epoch. */
  readonly fromMs?: number | undefined;
  /** Selects events quarantined before this time, in ms since the epoch. */
  readonly toMs?: number | undefined;
  /** Sequences in the stream. */
  readonly seqs?: ReadonlySet<number> | undefined;
};

/** The sequences that a call reads, both ends included. Events quarantined since the first call are not included. */
export type QuarantineRange = { readonly fromSeq: number; readonly endSeq: number };

export type QuarantinedEvent = {
  readonly seq: number;
  readonly quarantinedAtMs: number;
  readonly partition: number;
  /** The rules that quarantined the event, the deciding rule first. */
  readonly rules: readonly string[];
  readonly line: Uint8Array;
};

/** The part of the quarantine that one call reads. */
export type QuarantinePart = {
  readonly events: readonly QuarantinedEvent[];
  /** The argument of the next call; undefined after the last one. */
  readonly next: QuarantineRange | undefined;
};

export type QuarantineBounds = { readonly eventsMax: number; readonly bytesMax: number };

type Request = {
  readonly accountId: string;
  readonly filter: QuarantineFilter;
  readonly range?: QuarantineRange | undefined;
};

const messagesPerPull = 200;
const silenceMaxMs = 5_000;
const frameBytesMax = 256 * 1024;
const publishTimeoutMs = 2_000;
const publishAttemptsMax = 3;
/** Maximum number of concurrent deletions. */
const deletesAtOnce = 32;

/** Reads quarantined events of an account, oldest first, within the bounds of one call. */
export async function readQuarantine(
  connection: LogConnection,
  { accountId, filter, range }: Request,
  { eventsMax, bytesMax }: QuarantineBounds,
): Promise<QuarantinePart> {
  const { rule, fromMs, toMs, seqs } = filter;
  const lastSeq = range?.endSeq ?? (await readStreamState(connection, streams.quarantine)).lastSeq;
  const endSeq = seqs === undefined ? lastSeq : Math.min(lastSeq, Math.max(...seqs));
  const events: QuarantinedEvent[] = [];
  let bytes = 0;
  let next: QuarantineRange | undefined;
  const first = seqs === undefined ? 1 : Math.min(...seqs);
  await readMessages(connection, {
    stream: streams.quarantine,
    filterSubject: quarantineOfAccount(accountId, rule),
    from: { seq: Math.max(range?.fromSeq ?? 1, first) },
    content: 'all',
    messagesPerPull,
    silenceMaxMs,
    onMessage({ seq, subject, data, storedAtMs, header }) {
      if (seq > endSeq) return false;
      if (events.length >= eventsMax || bytes >= bytesMax) {
        next = { fromSeq: seq, endSeq };
        return false;
      }
      const isMeant = (seqs?.has(seq) ?? true) && storedAtMs >= (fromMs ?? 0) && storedAtMs < (toMs ?? Infinity);
      bytes += data.length;
      if (!isMeant) return true;
      const { partition, rule: own } = readQuarantineSubject(subject);
      const rules = header(quarantineHeaders.rules)?.split(',') ?? [own];
      events.push({ seq, quarantinedAtMs: storedAtMs, partition, rules, line: data });
      return true;
    },
  });
  return { events, next };
}

/**
 * Publishes events to INGEST, in order within each partition. An event leaves the quarantine once the log has stored
 * it. If a crash causes an event to be released twice, deduplication removes the second copy. `onReleased` gets the
 * number of events of each frame that the log has stored.
 */
export async function releaseQuarantined(
  connection: LogConnection,
  events: readonly QuarantinedEvent[],
  onReleased?: (count: number) => void,
): Promise<void> {
  for (const frame of framesOf(events)) {
    const [first, last] = [frame.events[0]?.seq, frame.events.at(-1)?.seq];
    const message = {
      subject: ingestSubject(frame.partition),
      payload: Buffer.concat(frame.lines),
      msgId: `release.${frame.partition}.${first}.${last}.${frame.events.length}`,
    };
    await publishWithRetry(connection, message, { timeoutMs: publishTimeoutMs, attemptsMax: publishAttemptsMax });
    onReleased?.(frame.events.length);
    await deleteQuarantined(connection, frame.events);
  }
}

export async function deleteQuarantined(
  connection: LogConnection,
  events: readonly Pick<QuarantinedEvent, 'seq'>[],
): Promise<void> {
  for (let start = 0; start < events.length; start += deletesAtOnce) {
    const some = events.slice(start, start + deletesAtOnce);
    await Promise.all(some.map(({ seq }) => deleteMessage(connection, streams.quarantine, seq)));
  }
}

/** Deletes all quarantined events of an account for which `isOf` is true. Returns their event ids. */
export async function eraseFromQuarantine(
  connection: LogConnection,
  accountId: string,
  bounds: QuarantineBounds,
  isOf: (envelope: Envelope) => boolean,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  let range: QuarantineRange | undefined;
  do {
    const part: QuarantinePart = await readQuarantine(connection, { accountId, filter: {}, range }, bounds);
    const own = part.events.filter(({ line }) => isOf(envelopeOf(line)));
    await deleteQuarantined(connection, own);
    deleted.push(...own.map(({ line }) => envelopeOf(line).id));
    range = part.next;
  } while (range !== undefined);
  return deleted;
}

/** The event of a quarantined line. */
export const envelopeOf = (line: Uint8Array): Envelope => readEnvelope(Buffer.from(line).toString('utf8'));

type ReleasedFrame = {
  readonly partition: number;
  readonly events: QuarantinedEvent[];
  readonly lines: Buffer[];
  bytes: number;
};

const lineEnd = Buffer.from('\n');

function framesOf(events: readonly QuarantinedEvent[]): readonly ReleasedFrame[] {
  const frames: ReleasedFrame[] = [];
  const open = new Map<number, ReleasedFrame>();
  for (const event of events) {
    const { partition, line } = event;
    let frame = open.get(partition);
    if (frame === undefined || frame.bytes + line.length > frameBytesMax) {
      frame = { partition, events: [], lines: [], bytes: 0 };
      open.set(partition, frame);
      frames.push(frame);
    }
    frame.events.push(event);
    frame.lines.push(releasedLine(line), lineEnd);
    frame.bytes += line.length;
  }
  return frames;
}
