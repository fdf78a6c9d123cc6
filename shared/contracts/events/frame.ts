import { ByteWriter } from '../../json/byte-writer.ts';
import type { Stretch } from '../../json/byte-writer.ts';
import { jsonDepthCeiling, textNestsDeeper } from '../../runtime/json-depth.ts';

/**
 * Maximum nesting of an envelope or a resolved event. Up to two levels enclose a client's content: the line and, if a
 * webhook's body became an event's properties, the payload. The resolver adds no level.
 */
export const lineDepthMax = jsonDepthCeiling + 2;

/**
 * A malformed frame. A frame is many events in one message of the log: NDJSON, one object per line, each line ended by
 * `\n`. It contains the client's bytes as received, so writing a frame serialises nothing.
 */
export class FrameError extends Error {
  readonly code = 'frame_malformed';
}

const lineEnd = 0x0a;

/** A growing frame. `bytes()` is a copy that stays valid after `reset`. */
export class FrameWriter {
  readonly #writer: ByteWriter;
  #events = 0;

  constructor(initialBytes = 64 * 1024) {
    this.#writer = new ByteWriter(initialBytes);
  }

  get length(): number {
    return this.#writer.length;
  }

  get events(): number {
    return this.#events;
  }

  get capacity(): number {
    return this.#writer.capacity;
  }

  /**
   * Appends the head, body[start, end) and `}`. The body must contain no raw line break. The head is empty if the body
   * already contains it.
   */
  appendEnvelope(head: string | Uint8Array, body: Uint8Array, start = 0, end = body.length): void {
    if (typeof head === 'string') this.#writer.text(head);
    else this.#writer.bytes(head);
    this.#writer.bytes(body, start, end);
    this.#writer.text('}\n');
    this.#events += 1;
  }

  /** Appends one line of JSON: a text, some bytes and another text. */
  appendLineOf(before: string, stretch: Stretch, behind: string): void {
    this.#writer.text(before);
    this.#writer.stretch(stretch);
    this.appendLine(behind);
  }

  /** Appends one line of JSON and its line end. */
  appendLine(json: string): void {
    this.#writer.text(json);
    this.#writer.text('\n');
    this.#events += 1;
  }

  bytes(): Uint8Array {
    return this.#writer.copy();
  }

  reset(): void {
    this.#writer.reset();
    this.#events = 0;
  }
}

/**
 * The lines of a frame as JSON text, without their line ends. Each line is decoded by itself: decoding the whole frame
 * to one string took fifteen times as long, because its memory must be cleared page by page.
 */
export function frameLines(bytes: Uint8Array): string[] {
  const buffer = asBuffer(bytes);
  assertFrame(buffer);
  return textLines(buffer);
}

/** Throws FrameError if the bytes end within a line. */
export function assertFrame(bytes: Uint8Array): void {
  if (bytes.length > 0 && bytes[bytes.length - 1] !== lineEnd) {
    throw new FrameError('reading a frame: the last line has no end');
  }
}

/** As `frameLines`, for bytes that may end within a line. */
export function textLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  eachLine(bytes, (start, end) => lines.push(bytes.toString('utf8', start, end)));
  return lines;
}

/**
 * Calls `take` with the range of each line, without its line end, for callers that read bytes before they decode text.
 * A last line without an end counts.
 */
export function eachLine(bytes: Buffer, take: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length;) {
    const end = endOfLine(bytes, start);
    take(start, end);
    start = end + 1;
  }
}

/** The number of lines, and so events, in a frame. */
export function countLines(frame: Uint8Array): number {
  const bytes = asBuffer(frame);
  let lines = 0;
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) lines += 1;
  return lines;
}

/** Start of the line that contains the byte at `at`. */
export function startOfLine(bytes: Buffer, at: number): number {
  return bytes.lastIndexOf(lineEnd, at) + 1;
}

/** End of the line that contains the byte at `at`: its line end, or the end of the bytes. */
export function endOfLine(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(lineEnd, at);
  return found < 0 ? bytes.length : found;
}

/** The same bytes as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Parses one line of a frame. Throws FrameError if it is not JSON, or nests deeper than any line of this build. */
export function parseLine(
  line: string,
  depthMax = lineDepthMax,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  if (textNestsDeeper(line, depthMax))
    throw new FrameError(`reading a frame: a line nests deeper than ${depthMax} levels`);
  try {
    return parse(line);
  } catch (error) {
    throw new FrameError('reading a frame: a line is not JSON', { cause: error });
  }
}
