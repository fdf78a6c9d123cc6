import type { Socket } from 'node:net';
import type { OutboundAnswer } from './outbound.ts';
import type { Deadline, Deadlines, Timed } from './deadlines.ts';
import { AnswerError, AnswerReader } from './read-answer.ts';
import type { ReadAnswer } from './read-answer.ts';
import type { WrittenRequest } from './write-request.ts';

/** The destination sent nothing for too long, before or within its response. */
export class SilenceError extends Error {
  readonly code = 'ANSWER_TIMEOUT';
}

/** Owner of a connection. Each request ends with one call of `ended` or `broke`; an idle connection may break too. */
export type ConnectionOwner = {
  /** The response is complete. The connection may be reused for `idleMs`; if that is 0, the connection is closed. */
  ended(connection: HttpConnection, answer: OutboundAnswer, idleMs: number): void;
  broke(connection: HttpConnection, error: unknown): void;
};

/** One connection, which carries one request at a time. */
export class HttpConnection implements Timed {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #silences: Deadlines;
  readonly #reader = new AnswerReader();
  #isBusy = false;
  #closes = false;
  #isOver = false;
  #receivedAtMs = 0;
  #silence: Deadline | undefined;
  /** Time until which the connection may stay idle, by performance.now(). */
  idleUntilMs = Infinity;
  /** Index among the connections of the origin; -1 if the connection is not among them. */
  slot = -1;

  /** `silences` measures how long a destination may send nothing. */
  constructor(socket: Socket, owner: ConnectionOwner, silences: Deadlines) {
    this.#socket = socket;
    this.#owner = owner;
    this.#silences = silences;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => this.#closed());
    socket.on('error', (error) => this.#break(error));
    socket.on('close', () => this.#closed());
  }

  /** Sends a request; no other request may be in flight. */
  send({ parts, closes }: WrittenRequest): void {
    this.#isBusy = true;
    this.#closes = closes;
    this.#receivedAtMs = 0;
    this.#silence = this.#silences.begin(this);
    if (parts.length > 1) this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    if (parts.length > 1) this.#socket.uncork();
  }

  /** Closes the connection, even with a request in flight. The owner gets no further call. */
  destroy(): void {
    this.#isOver = true;
    this.#isBusy = false;
    this.#endSilence();
    this.#socket.destroy();
  }

  /** Breaks the connection if nothing arrived since the silence began; otherwise a new silence begins. */
  expire(): void {
    const receivedAtMs = this.#receivedAtMs;
    if (receivedAtMs === 0) {
      this.#break(new SilenceError('sending: the destination is silent'));
      return;
    }
    this.#receivedAtMs = 0;
    this.#silence = this.#silences.begin(this);
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    if (!this.#isBusy) {
      this.#break(new AnswerError('ANSWER_MALFORMED', 'reading an answer: no request was sent'));
      return;
    }
    let read: ReadAnswer | undefined;
    try {
      read = this.#reader.push(chunk);
    } catch (error) {
      this.#break(error);
      return;
    }
    if (read === undefined) this.#receivedAtMs = performance.now();
    else this.#end(read.answer, this.#closes ? 0 : read.idleMs);
  }

  #closed(): void {
    if (this.#isOver) return;
    if (!this.#isBusy) {
      this.#break(undefined);
      return;
    }
    let read: ReadAnswer;
    try {
      read = this.#reader.end();
    } catch (error) {
      this.#break(error);
      return;
    }
    this.#end(read.answer, 0);
  }

  #end(answer: OutboundAnswer, idleMs: number): void {
    this.#isBusy = false;
    this.#endSilence();
    if (idleMs === 0) {
      this.#isOver = true;
      this.#socket.destroy();
    }
    this.#owner.ended(this, answer, idleMs);
  }

  #break(error: unknown): void {
    if (this.#isOver) return;
    this.destroy();
    this.#owner.broke(this, error);
  }

  #endSilence(): void {
    if (this.#silence !== undefined) this.#silences.end(this.#silence);
    this.#silence = undefined;
  }
}
