import type { HttpResponse } from 'uWebSockets.js';
import type { BodyBudget } from './body-budget.ts';
import type { Exchange } from './exchange.ts';
import { busy, tooLarge } from './reply.ts';
import type { Reply } from './reply.ts';

/** A refused body is still read to its end up to this size: many clients see an answer only then. */
const drainBytesMax = 16 * 1024 ** 2;
const firstBufferBytes = 16 * 1024;

/**
 * Reads a request's body, of `bytesMax` at most, and hands it to `accept` whole. A body that came in one piece is
 * handed over where it lies and is gone when `accept` returns; the others too, to make it one rule. With `refusal` the
 * body is read and thrown away before that answer is sent.
 */
export function receiveBody(
  exchange: Exchange,
  response: HttpResponse,
  bytesMax: number,
  budget: BodyBudget,
  accept: (exchange: Exchange, body: Buffer) => void,
  refusal: Reply | undefined,
): void {
  const { contentLength, expects } = exchange.head;
  let refused = refusal ?? (contentLength > bytesMax ? tooLarge(bytesMax) : undefined);
  // A client that asks first, or means to send more than anyone would read, is told at once.
  if (refused !== undefined && (expects || contentLength > drainBytesMax)) {
    exchange.send({ ...refused, close: true });
    return;
  }
  let received = 0;
  let buffer: Buffer | undefined;
  const refuse = (reply: Reply): void => {
    refused = reply;
    if (buffer !== undefined) budget.release(buffer.length);
    buffer = undefined;
  };
  response.onAborted(() => {
    if (buffer !== undefined) budget.release(buffer.length);
    buffer = undefined;
    exchange.abort();
  });
  response.onData((chunk, isLast) => {
    if (!exchange.open) return;
    if (isLast && received === 0 && refused === undefined && chunk.byteLength <= bytesMax) {
      accept(exchange, Buffer.from(chunk));
      return;
    }
    const start = received;
    received += chunk.byteLength;
    if (refused === undefined && received > bytesMax) refuse(tooLarge(bytesMax));
    if (refused === undefined) {
      buffer = grow(buffer, start, received, bytesMax, budget);
      if (buffer === undefined) refused = busy;
      // The engine takes the chunk back when this returns.
      else buffer.set(new Uint8Array(chunk), start);
    }
    if (refused !== undefined) {
      if (isLast) exchange.send(refused);
      else if (received > drainBytesMax) exchange.send({ ...refused, close: true });
    } else if (isLast && buffer !== undefined) {
      const whole = buffer;
      buffer = undefined;
      budget.release(whole.length);
      accept(exchange, whole.subarray(0, received));
    }
  });
}

/** A buffer with room for `needed` bytes and the first `filled` bytes of `buffer`; undefined (and `buffer` released) when the budget is spent. */
function grow(
  buffer: Buffer | undefined,
  filled: number,
  needed: number,
  bytesMax: number,
  budget: BodyBudget,
): Buffer | undefined {
  if (buffer !== undefined && buffer.length >= needed) return buffer;
  const size = Math.min(Math.max(needed * 2, firstBufferBytes), bytesMax);
  const held = buffer?.length ?? 0;
  if (!budget.take(size)) {
    budget.release(held);
    return undefined;
  }
  const larger = Buffer.allocUnsafeSlow(size);
  buffer?.copy(larger, 0, 0, filled);
  budget.release(held);
  return larger;
}
