import { encodeResolved, headOf, parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead, ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';

/** An event that was read: its head, and the rest, which is either its line in a frame or the parsed event. */
export type ReadEvent = {
  readonly head: EventHead;
  readonly rest: FrameLine | ResolvedEvent;
  /** Approximate bytes that the event takes in a request, with its visitor. */
  readonly bytes: number;
};

/** A line of a frame that was opened. */
export class FrameLine {
  readonly frame: ResolvedFrame;
  readonly index: number;

  constructor(frame: ResolvedFrame, index: number) {
    this.frame = frame;
    this.index = index;
  }
}

/** An event with its visitor as a line of the log: the stored bytes unless the event had to be parsed. */
export function lineOf({ rest }: Pick<ReadEvent, 'rest'>): string {
  return rest instanceof FrameLine ? rest.frame.lineAt(rest.index) : encodeResolved(rest);
}

/** Reads a line of a frame; undefined for a format that this build does not know. */
export function readFrameLine(frame: ResolvedFrame, index: number): ReadEvent | undefined {
  try {
    const bytes = frame.bytesAt(index);
    const head = frame.headAt(index);
    return head === undefined
      ? wholeEvent(parseResolved(frame.lineAt(index)), bytes)
      : { head, rest: new FrameLine(frame, index), bytes };
  } catch {
    return undefined;
  }
}

/** Reads and parses a whole line of a frame; undefined for a format that this build does not know. */
export function readWholeLine(frame: ResolvedFrame, index: number): ResolvedEvent | undefined {
  try {
    return parseResolved(frame.lineAt(index));
  } catch {
    return undefined;
  }
}

/** An event that is parsed already. */
export function wholeEvent(resolved: ResolvedEvent, bytes: number): ReadEvent {
  return { head: headOf(resolved), rest: resolved, bytes };
}
