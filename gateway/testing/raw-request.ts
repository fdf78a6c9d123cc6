import { connect } from 'node:net';

export type RawAnswer = {
  /** Everything the server sent. */
  readonly text: string;
  /** Status codes of all answers in it. */
  readonly statuses: readonly number[];
  /** Whether the server ended the connection. */
  readonly closed: boolean;
};

export type RawPart = string | Uint8Array | { readonly waitMs: number };

/** Sends bytes as they are and collects what comes back, until the server closes or `quietMs` pass without a byte. */
export async function sendRaw(port: number, parts: readonly RawPart[], quietMs = 300): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  const seen = { text: '', closed: false, lastByteMs: 0 };
  socket.on('data', (chunk) => {
    seen.text += chunk.toString('latin1');
    seen.lastByteMs = performance.now();
  });
  socket.on('close', () => (seen.closed = true));
  // A reset is a close to these tests.
  socket.on('error', () => undefined);
  for (const part of parts) {
    if (typeof part === 'object' && 'waitMs' in part) await pause(part.waitMs);
    else if (!socket.destroyed) socket.write(part);
  }
  seen.lastByteMs = performance.now();
  while (!seen.closed && performance.now() - seen.lastByteMs < quietMs) await pause(10);
  socket.destroy();
  const statuses = [...seen.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((found) => Number(found[1]));
  return { text: seen.text, statuses, closed: seen.closed };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A POST with exactly these header lines. */
export const rawPost = (path: string, headers: readonly string[], body: string): string =>
  [`POST ${path} HTTP/1.1`, 'Host: gateway', ...headers, '', body].join('\r\n');
