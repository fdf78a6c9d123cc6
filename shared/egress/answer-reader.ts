import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { OutboundAnswer } from '../destinations/sdk/destination.ts';
import type { Deadline, Deadlines } from './deadlines.ts';

/** Bytes of an answer that are kept. */
const keptBytesMax = 64 * 1024;
/** Bytes of an answer that are read and dropped, so that the connection may be used again, before it is cut. */
const readBytesMax = 1024 * 1024;

export class SendTimeoutError extends Error {
  readonly code = 'TOTAL_TIMEOUT';
}

type Settle = (answer: OutboundAnswer | undefined, error: unknown) => void;

/** Reads one answer, of bounded size and in bounded time, and settles exactly once. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #settle: Settle;
  readonly #deadlines: Deadlines;
  readonly #deadline: Deadline;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #settled = false;

  constructor(deadlines: Deadlines, settle: Settle) {
    this.#settle = settle;
    this.#deadlines = deadlines;
    this.#deadline = deadlines.begin(this);
  }

  /** Its time is over. */
  expire(): void {
    this.#abort(new SendTimeoutError('sending: no whole answer in time'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new SendTimeoutError('sending: no connection in time'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < keptBytesMax) this.#chunks.push(chunk.subarray(0, keptBytesMax - this.#bytes));
    this.#bytes += chunk.length;
    // The status said all there is to know.
    if (this.#bytes > readBytesMax) {
      this.#finish(this.#answer(), undefined);
      this.#controller?.abort(new Error('the answer is too long'));
    }
  }

  onResponseEnd(): void {
    this.#finish(this.#answer(), undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(undefined, error);
  }

  #abort(error: Error): void {
    this.#finish(undefined, error);
    this.#controller?.abort(error);
  }

  #finish(answer: OutboundAnswer | undefined, error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadlines.end(this.#deadline);
    this.#settle(answer, error);
  }

  #answer(): OutboundAnswer {
    return new Answer(this.#status, this.#headers, this.#chunks);
  }
}

/** Most answers are only asked for their status: the rest is made when it is. */
class Answer implements OutboundAnswer {
  readonly status: number;
  readonly #headers: IncomingHttpHeaders;
  readonly #chunks: readonly Buffer[];

  constructor(status: number, headers: IncomingHttpHeaders, chunks: readonly Buffer[]) {
    this.status = status;
    this.#headers = headers;
    this.#chunks = chunks;
  }

  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#headers)) {
      if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
    }
    return headers;
  }

  get body(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
