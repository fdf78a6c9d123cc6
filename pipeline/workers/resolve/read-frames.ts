import { accountEndOfLine, accountOfLine, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { asBuffer, assertFrame, endOfLine } from '../../../shared/contracts/events/frame.ts';
import { Turns } from '../worker/turns.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import type { StoredFrame, WaitingEvents, WaitingLines } from './waiting-events.ts';

type ReadContext = Pick<ResolverContext, 'counts' | 'beginTurn'>;

/**
 * Divides ingest frames into runs of lines that belong to one account, and queues them. It reads nothing else of an
 * event, so that it quickly finds the few events of one account after any number of another account's. A frame that
 * cannot be divided becomes a dead letter.
 */
export async function readFrames<Frame extends StoredFrame>(
  context: ReadContext,
  frames: readonly Frame[],
  { waiting, unfinished, areCounted = true }: FrameTarget<Frame>,
): Promise<void> {
  const { counts } = context;
  const turns = new Turns(() => context.beginTurn());
  for (const frame of frames) {
    unfinished.open(frame);
    let lines = 0;
    const letter = unreadable(frame);
    if (letter === undefined) {
      lines = divide(frame, counts, (found) => waiting.add(found));
      unfinished.add(frame, lines);
      if (areCounted) counts.events += lines;
    } else {
      unfinished.add(frame);
      waiting.addLetters({ frame, letters: [letter] });
    }
    unfinished.close(frame);
    const over = turns.spend(lines * unitsAnEvent);
    if (over !== undefined) await over;
  }
}

type FrameTarget<Frame extends object> = {
  readonly waiting: Pick<WaitingEvents, 'add' | 'addLetters'>;
  readonly unfinished: UnfinishedFrames<Frame>;
  /** Whether to count the events; false if they were counted when they were first read. */
  readonly areCounted?: boolean;
};

/** The cost of finding an event, in units of `Turns`. */
const unitsAnEvent = 64;

/** Returns a dead letter if a frame cannot be divided. */
function unreadable({ data, seq }: StoredFrame): IngestDeadLetter | undefined {
  try {
    assertFrame(data);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { payload: data, reason, seq, line: undefined };
  }
}

type DivideCounts = Pick<ResolverContext['counts'], 'accounts_parsed'>;

/** Calls `take` for each run of lines of one account, in order. Returns the number of all lines. */
function divide(frame: StoredFrame, counts: DivideCounts, take: (lines: WaitingLines) => void): number {
  const bytes = asBuffer(frame.data);
  let line = 0;
  let found: (Omit<WaitingLines, 'end'> & { end: number }) | undefined;
  // The start of the latest lines, up to the end of their account id; empty if no account was found there.
  let [headStart, headEnd] = [0, 0];
  for (let start = 0; start < bytes.length; line += 1) {
    const end = endOfLine(bytes, start);
    if (found !== undefined && isRepeated(bytes, headStart, headEnd, start)) {
      found.end = end;
    } else {
      if (found !== undefined) take(found);
      const accountEnd = accountEndOfLine(bytes, start, end);
      const isFound = accountEnd >= 0;
      const accountId = isFound
        ? accountOfLine(bytes, start, accountEnd)
        : readAccount(bytes.toString('utf8', start, end), counts);
      [headStart, headEnd] = isFound ? [start, accountEnd + 1] : [0, 0];
      found = { frame, accountId, line, bytes, start, end };
    }
    start = end + 1;
  }
  if (found !== undefined) take(found);
  return line;
}

/** Whether the bytes at [start, end) are repeated at `at`; false for an empty range. */
function isRepeated(bytes: Buffer, start: number, end: number, at: number): boolean {
  for (let offset = 0; start + offset < end; offset += 1) {
    if (bytes[start + offset] !== bytes[at + offset]) return false;
  }
  return start < end;
}

/** The account of a line that has another layout. Unreadable lines share one empty account. */
function readAccount(text: string, counts: DivideCounts): string {
  counts.accounts_parsed += 1;
  try {
    return readEnvelope(text).account;
  } catch {
    return '';
  }
}
