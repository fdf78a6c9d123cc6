import { FrameError, frameLines, lineDepthMax, parseLine } from './frame.ts';
import type { EventOrigin } from './event-origin.ts';
import type { ResolvedEvent } from './resolved-event.ts';
import type { RequestSummary } from './dead-letter.ts';
import { decodeJson, encodeJson, isJsonObject } from '../../runtime/json.ts';
import { refusedVersion } from '../log-format.ts';

/** The tier of replayed events: beside those of back-off, so that a replay does not stand in the way of retries. */
export const replayTier = 99;

/** The tier of parked events: each waits behind an earlier event of its visitor, and not for a time. */
export const parkedTier = 98;

/** Not a tier of events: it says which parked events of frames that are still waited for are settled. */
export const settledNoteTier = 97;

/** An event that waits for another attempt: one line of a frame in the retry log. */
export type RetryRecord = {
  readonly v: 1;
  /** Attempts made so far; 0 for a replay, and for an event that was parked before any: their times say when that was. */
  readonly attempts: number;
  /** Ms since the epoch, as are the others. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly notBefore: number;
  /** When the destination refused its key or token at this event last: such an attempt does not count. */
  readonly heldAt?: number;
  readonly reason: string;
  readonly request?: RequestSummary;
  /** Undefined in what earlier builds wrote. */
  readonly origin?: EventOrigin;
  readonly event: ResolvedEvent;
};

export function encodeRetryRecord(record: RetryRecord): string {
  return JSON.stringify(record);
}

/** Reads a frame of the retry log. Throws FrameError on what this build does not know. */
export function decodeRetryFrame(data: Uint8Array): RetryRecord[] {
  return frameLines(data).map(parseRetryRecord);
}

/** Reads one line of such a frame. Throws FrameError on what this build does not know. */
export function parseRetryRecord(line: string): RetryRecord {
  // The event stands within its record.
  const record = parseLine(line, lineDepthMax + 1) as RetryRecord | null;
  if (record?.v !== 1) throw new FrameError(`reading the retry log: ${refusedVersion(record?.v, 1)}`);
  return record;
}

/** Lines that are settled, by the sequence of their frame. */
type SettledLines = ReadonlyMap<number, readonly number[]>;

export function encodeSettledNote(settled: SettledLines): Uint8Array {
  return encodeJson({ v: 1, settled: [...settled] });
}

/** What a note cannot say is sent again, so nothing of a note that this build does not know is believed. */
export function decodeSettledNote(data: Uint8Array): SettledLines {
  const note = decodeJson(data);
  const entries: readonly unknown[] =
    isJsonObject(note) && note['v'] === 1 && Array.isArray(note['settled']) ? note['settled'] : [];
  const settled = new Map<number, readonly number[]>();
  for (const entry of entries) {
    if (!Array.isArray(entry)) continue;
    const [seq, lines] = entry as readonly unknown[];
    if (typeof seq === 'number' && isLines(lines)) settled.set(seq, lines);
  }
  return settled;
}

function isLines(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((line) => typeof line === 'number');
}
