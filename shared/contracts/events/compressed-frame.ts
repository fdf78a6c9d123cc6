import { constants, deflateSync, inflateSync } from 'node:zlib';
import { FrameError, asBuffer } from './frame.ts';

/**
 * A frame of resolved events may be compressed: a mark, its decompressed size, and the compressed bytes in zlib's
 * format (RFC 1950), whose checksum detects damage. No line begins with the mark, so the first byte shows whether a
 * frame is compressed.
 */
const mark = 0x01;
const headBytes = 5;

/** Maximum decompressed size of a frame: twice the size at which a resolver closes a frame. */
export const openedBytesMax = 1024 ** 2;

/**
 * Compresses a frame. Returns it unchanged if compression saves nothing, or if readers would not open a frame of its
 * size.
 */
export function compressFrame(frame: Uint8Array): Uint8Array {
  if (frame.length > openedBytesMax) return frame;
  const deflated = deflateSync(frame, { level: constants.Z_BEST_SPEED });
  if (headBytes + deflated.length >= frame.length) return frame;
  const head = Buffer.alloc(headBytes, mark);
  head.writeUInt32BE(frame.length, 1);
  return Buffer.concat([head, deflated]);
}

/**
 * The decompressed size of a frame, from its head; the size of the frame itself if it is not compressed, or is larger
 * than readers open.
 */
export function openedBytes(frame: Uint8Array): number {
  if (!isCompressed(frame)) return frame.length;
  const bytes = saidBytes(frame);
  return bytes > openedBytesMax ? frame.length : bytes;
}

/** The lines of a frame as bytes, whether it is compressed or not. Throws FrameError if it cannot be opened. */
export function openFrame(frame: Uint8Array): Buffer {
  if (!isCompressed(frame)) return asBuffer(frame);
  const bytes = saidBytes(frame);
  if (bytes > openedBytesMax) {
    throw new FrameError(`opening a frame: it would have ${bytes} bytes, and at most ${openedBytesMax} are allowed`);
  }
  const { opened, bytesRead } = inflate(frame.subarray(headBytes), bytes);
  if (opened.length !== bytes || headBytes + bytesRead !== frame.length) {
    throw new FrameError('opening a frame: its length is not the one in its head');
  }
  return opened;
}

const isCompressed = (frame: Uint8Array): boolean => frame[0] === mark;

const saidBytes = (frame: Uint8Array): number =>
  frame.length < headBytes ? Number.POSITIVE_INFINITY : asBuffer(frame).readUInt32BE(1);

/** zlib's minimum. */
const chunkBytesMin = 64;

function inflate(deflated: Uint8Array, bytesMax: number): { readonly opened: Buffer; readonly bytesRead: number } {
  try {
    const result: unknown = inflateSync(deflated, {
      maxOutputLength: Math.max(1, bytesMax),
      // A single chunk holds everything. It has a byte to spare, without which zlib would not detect the end.
      chunkSize: Math.max(chunkBytesMin, bytesMax + 1),
      info: true,
    });
    // With `info`, the result has another shape, which the library's types do not describe.
    const { buffer, engine } = result as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return { opened: buffer, bytesRead: engine.bytesWritten };
  } catch (error) {
    throw new FrameError('opening a frame: it cannot be decompressed', { cause: error });
  }
}
