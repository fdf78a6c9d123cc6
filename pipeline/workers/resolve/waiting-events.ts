import { endOfLine } from '../../../shared/contracts/events/frame.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import type { IngestDeadLetter } from './dead-letters.ts';

/** An accepted frame as the log has it. */
export type StoredFrame = Pick<LogMessage, 'seq' | 'data' | 'storedAtMs'>;

/** Where an event is in the log. */
export type Origin = { readonly frame: StoredFrame; readonly line: number };

/** A range of bytes in a frame. */
type Place = {
  /** The frame's bytes. */
  readonly bytes: Buffer;
  readonly start: number;
  /** Position of the line end after the range. */
  readonly end: number;
};

/** An event that was taken for a batch: found in its frame, but not parsed. */
export type WaitingEvent = Place & {
  readonly origin: Origin;
  /** The account under which the event waited; empty for an unreadable line with another layout. */
  readonly accountId: string;
};

/**
 * Consecutive lines of a frame, all of one account. They are divided into events only when a batch takes them, because
 * garbage collections copy every waiting object.
 */
export type WaitingLines = Place & {
  readonly frame: StoredFrame;
  readonly accountId: string;
  /** Index of the first line. */
  readonly line: number;
};

/** The waiting lines of an account. */
type AccountLines = { lines: LinesLeft[]; bytes: number };

/** Waiting lines, of which batches may already have taken the first ones. */
type LinesLeft = { -readonly [Key in keyof WaitingLines]: WaitingLines[Key] };

/** Lines of a frame that become dead letters. */
export type FrameLetters = { readonly frame: StoredFrame; readonly letters: readonly IngestDeadLetter[] };

/** Events that are resolved together, and dead letters of their frames. */
export type Part = { readonly events: readonly WaitingEvent[]; readonly left: readonly FrameLetters[] };

type Accounts = Pick<ReadonlySet<string>, 'has'>;

const nobody: Accounts = new Set();

export type PartLimits = {
  readonly eventsMax: number;
  /** Maximum number of events of one account in a batch. */
  readonly accountEventsMax: number;
};

/**
 * Events that wait to be resolved, cut out of their frames. Accounts take turns: a batch has at most `accountEventsMax`
 * events of each account, in order, so that a flood of one account does not delay the others of its partition.
 */
export class WaitingEvents {
  readonly #limits: PartLimits;
  /** In the order in which the accounts take turns. */
  readonly #accounts = new Map<string, AccountLines>();
  #left: FrameLetters[] = [];
  #bytes = 0;

  constructor(limits: PartLimits) {
    this.#limits = limits;
  }

  /** Bytes of all waiting lines, with the line ends. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0 && this.#left.length === 0;
  }

  /** The accounts with waiting lines. */
  get accounts(): Iterable<string> {
    return this.#accounts.keys();
  }

  /** Bytes of one account's lines. */
  bytesOf(accountId: string): number {
    return this.#accounts.get(accountId)?.bytes ?? 0;
  }

  /** Number of runs of consecutive lines of one account: at least the number of frames with its lines. */
  stretchesOf(accountId: string): number {
    return this.#accounts.get(accountId)?.lines.length ?? 0;
  }

  /** Whether lines of an account wait that are in a frame. */
  isIn(frame: StoredFrame | undefined, accountId: string): boolean {
    return this.#accounts.get(accountId)?.lines.some((lines) => lines.frame === frame) === true;
  }

  add(lines: WaitingLines): void {
    const bytes = lines.end + 1 - lines.start;
    const waiting = this.#accounts.get(lines.accountId);
    if (waiting === undefined) this.#accounts.set(lines.accountId, { lines: [{ ...lines }], bytes });
    else {
      waiting.lines.push({ ...lines });
      waiting.bytes += bytes;
    }
    this.#bytes += bytes;
  }

  /** Removes and returns an account's lines, in order, from the frames for which `isIn` is true. */
  remove(accountId: string, isIn: (frame: StoredFrame) => boolean): readonly WaitingLines[] {
    const waiting = this.#accounts.get(accountId);
    if (waiting === undefined) return [];
    const removed = waiting.lines.filter(({ frame }) => isIn(frame));
    const bytes = removed.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
    waiting.lines = waiting.lines.filter(({ frame }) => !isIn(frame));
    waiting.bytes -= bytes;
    this.#bytes -= bytes;
    if (waiting.lines.length === 0) this.#accounts.delete(accountId);
    return removed;
  }

  addLetters(letters: FrameLetters): void {
    this.#left.push(letters);
  }

  /** Whether anything waits for the next batch if it leaves out some accounts. */
  hasOther(than: Accounts): boolean {
    if (this.#left.length > 0) return true;
    for (const accountId of this.#accounts.keys()) if (!than.has(accountId)) return true;
    return false;
  }

  /** Takes the next batch, which leaves out the events of some accounts; empty if nothing else waits. */
  next(without: Accounts = nobody): Part {
    const { eventsMax, accountEventsMax } = this.#limits;
    const events: WaitingEvent[] = [];
    let turns = this.#accounts.size;
    // An account with further events moves to the end of the Map; `turns` keeps this loop from reaching it twice.
    for (const [accountId, waiting] of this.#accounts) {
      if (turns === 0 || events.length >= eventsMax) break;
      turns -= 1;
      if (without.has(accountId)) continue;
      this.#cut(waiting, Math.min(accountEventsMax, eventsMax - events.length), events);
      this.#accounts.delete(accountId);
      if (waiting.lines.length > 0) this.#accounts.set(accountId, waiting);
    }
    const left = this.#left;
    this.#left = [];
    return { events, left };
  }

  /** Moves at most `eventsMax` events from an account's lines to `events`. */
  #cut(waiting: AccountLines, eventsMax: number, events: WaitingEvent[]): void {
    let used = 0;
    let cutBytes = 0;
    for (let left = eventsMax; left > 0 && used < waiting.lines.length; left -= 1) {
      const lines = waiting.lines[used] as LinesLeft;
      const { frame, accountId, line, bytes, start } = lines;
      const end = endOfLine(bytes, start);
      events.push({ origin: { frame, line }, accountId, bytes, start, end });
      cutBytes += end + 1 - start;
      lines.line += 1;
      lines.start = end + 1;
      if (lines.start > lines.end) used += 1;
    }
    waiting.lines.splice(0, used);
    waiting.bytes -= cutBytes;
    this.#bytes -= cutBytes;
  }
}
