import type { Envelope } from '../../shared/events/envelope.ts';
import { FrameError, frameLines, parseLine } from '../../shared/events/frame.ts';
import { assertId } from '../../shared/log/subjects.ts';
import { isJsonObject } from '../../shared/process/json.ts';

export type FrameLine =
  | { readonly kind: 'event'; readonly line: string; readonly envelope: Envelope }
  | { readonly kind: 'unreadable'; readonly line: string; readonly reason: string };

/**
 * Reads an ingest frame line by line, so that one bad line does not take the others with it. Throws FrameError when
 * the frame as a whole cannot be taken apart.
 */
export function readFrame(bytes: Uint8Array): FrameLine[] {
  return frameLines(bytes).map((line) => {
    try {
      return { kind: 'event', line, envelope: readEnvelope(parseLine(line)) };
    } catch (error) {
      return { kind: 'unreadable', line, reason: error instanceof Error ? error.message : String(error) };
    }
  });
}

function readEnvelope(value: unknown): Envelope {
  if (!isJsonObject(value)) throw new FrameError('reading a frame: a line is no object');
  if (value['v'] !== 1) throw new FrameError(`reading a frame: envelope version ${String(value['v'])} is unknown`);
  const { account, source, id, at, kind, body } = value;
  const complete =
    typeof account === 'string' &&
    typeof source === 'string' &&
    typeof id === 'string' &&
    typeof at === 'number' &&
    (kind === 'track' || kind === 'identify') &&
    isJsonObject(body);
  if (!complete) throw new FrameError('reading a frame: an envelope misses a field');
  assertId(account);
  return value as unknown as Envelope;
}
