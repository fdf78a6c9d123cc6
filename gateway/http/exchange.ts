import type { HttpResponse } from 'uWebSockets.js';
import type { FrameOutcome, FrameWaiter } from '../commit/frame.ts';
import type { RequestHead } from './request-head.ts';
import { isIdentityCoding, isJsonType } from './request-head.ts';
import type { Reply } from './reply.ts';
import { accepted, compressedBody, internalError, unavailable, unsupportedType } from './reply.ts';

/** Callbacks of an exchange to its server. */
export type ExchangeOwner = {
  /** Whether connections are to be closed after their next answer. */
  readonly closing: boolean;
  /** Called once: when the exchange was answered, or with 499 if the client disconnected before. */
  exchangeEnded(exchange: Exchange, code: number): void;
  /** Called for unexpected failures. */
  requestFailed(error: unknown): void;
};

/** The answers of a request with one event, by outcome. */
export type StoredAnswers = {
  readonly stored: Reply;
  readonly lost: Reply;
  /** Answer to a body that is not a valid event. Default: a 400 that names the fault. */
  readonly refused?: Reply;
};

/** Counts events by result. */
type StoredTally = { stored: number; lost: number };

const usualAnswers: StoredAnswers = { stored: accepted, lost: unavailable };

/**
 * One request and its answer. After the answer or an abort it no longer touches the engine's response.
 * Large: one object per request, because each part of it would be another allocation on the hot path.
 */
export class Exchange implements FrameWaiter {
  readonly head: RequestHead;
  /** Index of the request's route, for counting. */
  readonly route: number;
  /** When the request's head was read, in ms on the monotonic clock. */
  readonly startedAtMs = performance.now();
  #tally: StoredTally | undefined;
  #answers: StoredAnswers = usualAnswers;
  #note: { stored: boolean } | undefined;
  #rewrite: ((reply: Reply) => Reply) | undefined;
  readonly #owner: ExchangeOwner;
  #response: HttpResponse | undefined;

  /** Whether it is a HEAD request, whose answer has no body. */
  headOnly = false;
  /** The client's address, cached on first use: reading it from the engine is a system call. */
  clientAddress: string | undefined;
  /** The address whose requests in flight include this one. */
  countedFor: string | undefined;
  /** Size of the decompressed body, in bytes. */
  bodyBytes = 0;

  constructor(owner: ExchangeOwner, response: HttpResponse, head: RequestHead, route: number) {
    this.#owner = owner;
    this.#response = response;
    this.head = head;
    this.route = route;
  }

  /** Whether the request still waits for its answer. */
  get open(): boolean {
    return this.#response !== undefined;
  }

  /** The address of the other end of the connection, 4 or 16 bytes; empty once the client is gone. */
  remoteAddress(): ArrayBuffer {
    return this.#response === undefined ? noAddress : this.#response.getRemoteAddress();
  }

  /** Applies `rewrite` to every answer from now on. */
  rewriteAnswers(rewrite: (reply: Reply) => Reply): void {
    this.#rewrite = rewrite;
  }

  /**
   * Makes the exchange wait until the log has stored its one event. Then counts in `tally`, calls `note` if given, and
   * answers.
   */
  answerWhenStored(tally: StoredTally, answers: StoredAnswers = usualAnswers, note?: { stored: boolean }): void {
    this.#note = note;
    this.#tally = tally;
    this.#answers = answers;
  }

  /** Sends the answer, unless the request was already answered or the client is gone. */
  send(given: Reply): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    const reply = this.#rewrite === undefined ? given : this.#rewrite(given);
    const { headOnly, head } = this;
    sending = { response, reply, origin: head.origin, headOnly, close: reply.close || this.#owner.closing };
    try {
      response.cork(writeAnswer);
    } catch (error) {
      this.#owner.requestFailed(error);
      response.close();
    }
    this.#owner.exchangeEnded(this, reply.code);
  }

  /** Runs a part of the request's work. An exception fails only the request; uncaught, it would end the process. */
  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Answers with 500 after an unexpected failure. */
  fail(error: unknown): void {
    this.#owner.requestFailed(error);
    this.send(internalError);
  }

  /** Call when the engine reports that the client disconnected. */
  abort(): void {
    if (this.#response === undefined) return;
    this.#response = undefined;
    this.#owner.exchangeEnded(this, clientGone);
  }

  frameDecided(outcome: FrameOutcome): void {
    const stored = outcome === 'stored';
    if (stored && this.#note !== undefined) this.#note.stored = true;
    if (this.#tally !== undefined) {
      if (stored) this.#tally.stored += 1;
      else this.#tally.lost += 1;
    }
    this.send(stored ? this.#answers.stored : this.#answers.lost);
  }
}

const noAddress = new ArrayBuffer(0);

/** Status for counting requests whose client disconnected before the answer. */
export const clientGone = 499;

// One callback for all answers, since a closure for each request would be garbage.
let sending: { response: HttpResponse; reply: Reply; origin: string; headOnly: boolean; close: boolean };
const writeAnswer = (): void => {
  const { response, reply, origin, headOnly, close } = sending;
  // The engine closes a connection only after an answer with a length, which a 204 must not have. A 200 without content
  // is equivalent.
  const bare = reply.code === 204 && !close;
  if (reply.code !== 200 && (reply.code !== 204 || bare)) response.writeStatus(reply.status);
  for (const [name, value] of reply.headers) response.writeHeader(name, value);
  allowPages(response, reply, origin);
  if (bare) response.endWithoutBody();
  else if (headOnly) response.endWithoutBody(reply.body.length, close);
  else response.end(reply.body, close);
};

/** Origins that are safe to repeat in a header. */
const plainOrigin = /^[!-~]{1,512}$/;

/**
 * Lets every page read the answer, whatever the key, because no answer of the gateway depends on a cookie. If a request
 * has cookies, as all beacons have, a browser shows the answer only to a page whose origin the answer names.
 */
function allowPages(response: HttpResponse, reply: Reply, origin: string): void {
  if (reply.isForAll || origin === '' || !plainOrigin.test(origin)) {
    response.writeHeader('access-control-allow-origin', '*');
  } else {
    response.writeHeader('access-control-allow-origin', origin);
    response.writeHeader('access-control-allow-credentials', 'true');
  }
  if (reply.code === 429 || reply.code === 503) response.writeHeader('access-control-expose-headers', 'retry-after');
}

/** The refusal of a body that is compressed, or not JSON, according to its headers; undefined for any other body. */
export function refuseNonJson(exchange: Exchange): Reply | undefined {
  const { contentType, contentEncoding } = exchange.head;
  if (!isJsonType(contentType)) return unsupportedType;
  return isIdentityCoding(contentEncoding) ? undefined : compressedBody;
}
