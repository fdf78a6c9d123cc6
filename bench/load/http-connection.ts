import type { Socket } from 'node:net';
import { connect } from 'node:net';

export type Answered = (status: number, connection: HttpConnection) => void;

const headEnd = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection with one request in flight at a time. Parses only enough HTTP to find the end of a
 * response, so that the load generator costs less than the measured server.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #onAnswer: Answered;
  readonly #onFailure: (error: Error, connection: HttpConnection) => void;
  #partial: Buffer | undefined;
  /** Length and status of the last response; the next response nearly always has the same length and status. */
  #usualBytes = -1;
  #usualStatus = 0;

  constructor(url: URL, onAnswer: Answered, onFailure: (error: Error, connection: HttpConnection) => void) {
    this.#onAnswer = onAnswer;
    this.#onFailure = onFailure;
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('error', (error) => this.#onFailure(error, this));
    this.#socket.on('close', () => this.#onFailure(new Error('connection closed'), this));
  }

  send(request: Buffer): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#partial === undefined && chunk.length === this.#usualBytes && statusOf(chunk) === this.#usualStatus) {
      this.#onAnswer(this.#usualStatus, this);
      return;
    }
    const bytes = this.#partial === undefined ? chunk : Buffer.concat([this.#partial, chunk]);
    const end = answerEnd(bytes);
    if (end === undefined || end > bytes.length) {
      this.#partial = bytes;
      return;
    }
    this.#partial = undefined;
    this.#usualBytes = end;
    this.#usualStatus = statusOf(bytes);
    this.#onAnswer(this.#usualStatus, this);
  }
}

function statusOf(bytes: Buffer): number {
  const digit = (at: number): number => (bytes[at] ?? 48) - 48;
  return digit(9) * 100 + digit(10) * 10 + digit(11);
}

/** Offset of the response's end; undefined while its head is incomplete. Responses have a Content-Length. */
function answerEnd(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(headEnd);
  if (head === -1) return undefined;
  const text = bytes.toString('latin1', 0, head);
  const at = text.search(/\r\ncontent-length: ?/i);
  const length = at === -1 ? 0 : Number.parseInt(text.slice(text.indexOf(':', at) + 1), 10);
  return head + headEnd.length + length;
}

/** The bytes of an HTTP/1.1 POST request, built once and sent many times. */
export function postRequest(url: URL, body: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${url.host}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
