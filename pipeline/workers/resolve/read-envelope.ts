import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { FrameError, parseLine } from '../../../shared/contracts/events/frame.ts';
import { assertId } from '../../../shared/contracts/subjects.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';

/** Reads one line of an ingest frame. Throws FrameError or SubjectError when it is not an envelope this build can work on. */
export function readEnvelope(line: string): Envelope {
  const value = parseLine(line);
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
