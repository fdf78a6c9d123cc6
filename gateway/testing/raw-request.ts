import { connect } from 'node:net';

export type RawAnswer = {
  /** Everything the server sent. */
  readonly text: string;
  /** Status codes of all answers in `text`. */
  readonly statuses: readonly number[];
  /** Whether the server ended the connection. */
  readonly closed: boolean;
};

export type RawPart = string | Uint8Array | { readonly waitMs: number };

/**
 * When the wait ends: after a number of answers, when the server ends the connection, or after a time without bytes.
 */
export type RawEnd = { readonly answers: number } | 'closed' | { readonly quietMs: number };

// Longest time that a test waits for the end, in ms.
const deadlineMs = 45_000;

/** Sends bytes unchanged and collects the answers until `end`, or until the server closes the connection. */
export async function sendRaw(
  port: number,
  parts: readonly RawPart[],
  end: RawEnd = { answers: 1 },
): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  const seen = { text: '', closed: false, lastByteMs: 0 };
  socket.on('data', (chunk) => {
    seen.text += chunk.toString('latin1');
    seen.lastByteMs = performance.now();
  });
  socket.on('close', () => (seen.closed = true));
  // These tests treat a reset as a close.
  socket.on('error', () => undefined);
  for (const part of parts) {
    if (typeof part === 'object' && 'waitMs' in part) await pause(part.waitMs);
    else if (!socket.destroyed) socket.write(part);
  }
  const sentMs = performance.now();
  seen.lastByteMs = sentMs;
  const isOver = (): boolean => {
    if (seen.closed || performance.now() - sentMs > deadlineMs) return true;
    if (end === 'closed') return false;
    if ('answers' in end) return statusesOf(seen.text).length >= end.answers;
    return performance.now() - seen.lastByteMs >= end.quietMs;
  };
  while (!isOver()) await pause(5);
  socket.destroy();
  return { text: seen.text, statuses: statusesOf(seen.text), closed: seen.closed };
}

const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((found) => Number(found[1]));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A POST with exactly these header lines. */
export const rawPost = (path: string, headers: readonly string[], body: string): string =>
  [`POST ${path} HTTP/1.1`, 'Host: gateway', ...headers, '', body].join('\r\n');
