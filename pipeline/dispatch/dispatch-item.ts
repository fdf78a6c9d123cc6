import { frameLines } from '../../shared/events/frame.ts';
import { parseResolved } from '../../shared/events/resolved-event.ts';
import type { OutboundEvent } from '../../shared/destinations/define.ts';
import type { HeldFrame } from './held-frames.ts';
import type { LaneItem } from './visitor-lanes.ts';

/** One event on its way to the destination. */
export type DispatchItem = LaneItem &
  OutboundEvent & {
    readonly frame: HeldFrame;
    /** Attempts made before, and when the first one was, in ms since the epoch; 0 and undefined for a fresh event. */
    readonly attempts: number;
    readonly firstAttemptAtMs: number | undefined;
  };

export type ReadEvent = Pick<OutboundEvent, 'resolved' | 'json'>;

/** How the resolver begins a line. */
const lineStart = '{"v":1,"event":';

/** Reads the event of a line; undefined for one this build does not know. */
export function readResolvedLine(line: string): ReadEvent | undefined {
  try {
    return { resolved: parseResolved(line), json: jsonOf(line) };
  } catch {
    return undefined;
  }
}

/** The lines of a frame; a frame that ends within one is a single line that nobody can read. */
export function resolvedLines(data: Uint8Array): readonly string[] {
  try {
    return frameLines(data);
  } catch {
    return [Buffer.from(data).toString('utf8')];
  }
}

/** The line without its version, where it is written as the resolver writes it. */
function jsonOf(line: string): string | undefined {
  return line.startsWith(lineStart) ? `{${line.slice('{"v":1,'.length)}` : undefined;
}
