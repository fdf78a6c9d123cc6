import { isJsonObject } from '../../runtime/json.ts';
import { asBuffer, eachLine, endOfLine, parseLine, startOfLine } from './frame.ts';
import {
  lineSampleHash,
  openIfReadable,
  visitorCharactersElsewhere,
  visitorElsewhere,
  withVisitor,
} from './resolved-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';

const nameKey = '"event":';
const testMark = Buffer.from('"test":true');

/** A line whose event has one of the given names contains one of these byte sequences: see `findEventsNamed`. */
export type NameMarks = readonly Buffer[];

export function markNames(names: readonly string[]): NameMarks {
  return names.map((name) => Buffer.from(`${nameKey}${JSON.stringify(name)}`));
}

/** What is read of an event that is found by its name. */
export type NamedEvent = Pick<ResolvedEvent, 'event'> & { readonly visitorId: string };

/**
 * Finds the events of a frame that have one of these names. Lines without any of the names are never parsed; lines and
 * frames that cannot be read are left out.
 */
export function findEventsNamed(frame: Uint8Array, marks: NameMarks): NamedEvent[] {
  const bytes = openIfReadable(frame);
  if (bytes === undefined) return [];
  const starts = new Set<number>();
  for (const mark of marks) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, endOfLine(bytes, at))) {
      starts.add(startOfLine(bytes, at));
    }
  }
  return [...starts].flatMap((start) => readNamed(bytes.toString('utf8', start, endOfLine(bytes, start))) ?? []);
}

/** Reads a line without its visitor, which may be in another line. */
function readNamed(line: string): NamedEvent | undefined {
  try {
    const value = parseLine(line);
    if (!isJsonObject(value)) return undefined;
    const { v, event, visitor_id: visitorId } = value;
    if (v !== 1 || !isJsonObject(event) || typeof visitorId !== 'string') return undefined;
    return { event: event as ResolvedEvent['event'], visitorId };
  } catch {
    return undefined;
  }
}

/** A line that is decoded only when it is read. */
export type UnreadLine = {
  /** Approximate size of the line with its visitor, in bytes. */
  readonly bytes: number;
  /** The text of the line, with its visitor. */
  read(): string;
};

/**
 * Calls `take` for each line of a frame. Its arguments: whether the line is a test event, a function that returns the
 * line, and one that returns its `sampleHash`. Most lines are not requested, and none is parsed. A live event whose
 * properties contain `"test":true` counts as a test event; no test event counts as a live one. A frame that cannot be
 * opened is one unreadable line.
 */
export function eachResolvedLine(
  frame: Uint8Array,
  take: (maybeTest: boolean, line: () => UnreadLine, hash: () => number) => void,
): void {
  const bytes = openIfReadable(frame);
  if (bytes === undefined) {
    const line = { bytes: frame.length, read: () => asBuffer(frame).toString('utf8') };
    take(
      false,
      () => line,
      () => 0,
    );
    return;
  }
  // In most frames no line is requested here; in others the same line repeatedly.
  let asked = { index: 0, start: 0 };
  const lineAt = (index: number): string | undefined => {
    if (index < asked.index) asked = { index: 0, start: 0 };
    for (; asked.index < index && asked.start < bytes.length; asked.index += 1) {
      asked.start = endOfLine(bytes, asked.start) + 1;
    }
    return asked.start >= bytes.length ? undefined : bytes.toString('utf8', asked.start, endOfLine(bytes, asked.start));
  };
  let [lineStart, lineEnd] = [0, 0];
  const line = (): UnreadLine => {
    const [start, end] = [lineStart, lineEnd];
    return {
      get bytes() {
        return end - start + visitorCharactersElsewhere(bytes, start, end);
      },
      read() {
        const text = bytes.toString('utf8', start, end);
        return withVisitor(text, visitorElsewhere(text, lineAt));
      },
    };
  };
  const hash = (): number => lineSampleHash(bytes, lineStart, lineEnd);
  let nextTestAt = bytes.indexOf(testMark);
  eachLine(bytes, (start, end) => {
    const maybeTest = nextTestAt >= 0 && nextTestAt < end;
    if (maybeTest) nextTestAt = bytes.indexOf(testMark, end);
    [lineStart, lineEnd] = [start, end];
    take(maybeTest, line, hash);
  });
}
