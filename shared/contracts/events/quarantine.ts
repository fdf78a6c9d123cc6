import { FrameError } from './frame.ts';

/** Headers of a quarantined event. Its payload is the event's line in the ingest frame, as accepted. */
export const quarantineHeaders = {
  /** Ids of the rules that the event breaks, separated by commas; the first one quarantined it. */
  rules: 'Sluice-Rules',
} as const;

const beforeFirst = Buffer.from('{"v":1,');
const beforeLater = /^\{"v":2,"release":(\d{1,9}),/;
const headBytesMax = 64;

/**
 * Makes the line of a released event: the same bytes, and how often the event was released. Deduplication treats each
 * release as a new event, so that the event passes once per release. Builds that do not know version 2 store the event
 * as a dead letter.
 */
export function releasedLine(line: Uint8Array): Buffer {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  if (bytes.subarray(0, beforeFirst.length).equals(beforeFirst)) {
    return Buffer.concat([Buffer.from('{"v":2,"release":1,'), bytes.subarray(beforeFirst.length)]);
  }
  const match = beforeLater.exec(bytes.toString('latin1', 0, headBytesMax));
  if (match === null) throw new FrameError('releasing an event: its line is no envelope');
  const head = Buffer.from(`{"v":2,"release":${Number(match[1]) + 1},`);
  return Buffer.concat([head, bytes.subarray(match[0].length)]);
}
