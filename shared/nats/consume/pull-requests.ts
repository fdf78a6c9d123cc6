import type { PullTurn } from './pull-turns.ts';

/** As the server reads it. */
export type PullRequest = { readonly batch: number; readonly group: string; readonly max_bytes?: number } & (
  | { readonly expires: number }
  | { readonly no_wait: true }
);

export type PullRequestsOptions = {
  readonly group: string;
  /** Whether it requests more than its reader waits for. */
  readonly pullsAhead: boolean;
  /** Bytes of buffered messages, at most, to within one message; undefined for no limit. */
  readonly bufferedBytesMax: number | undefined;
  readonly messageBytesMax: number;
  /** Its turn among the readers of the subject. */
  readonly turn: PullTurn;
  /** A request waits this long at the server, in ms. */
  expiresMs(): number;
};

/** The end of a pull may arrive this much later than it is due, in ms. */
const silenceMs = 1_500;
const toNanos = (ms: number): number => ms * 1e6;

/** The pull request that waits at the server, and the next one. */
export class PullRequests {
  readonly #options: PullRequestsOptions;
  /** Messages that may still arrive for it. */
  #left = 0;
  #expiresMs = 0;
  #heardAtMs = performance.now();
  /** A reader that does not pull ahead first receives the present messages, and then waits for new ones. */
  #mayHaveMore = true;

  constructor(options: PullRequestsOptions) {
    this.#options = options;
  }

  /** Whether a request waits at the server. */
  get isOpen(): boolean {
    return this.#left > 0;
  }

  /** Whether the end of a request is overdue. */
  isOverdue(nowMs: number): boolean {
    return this.isOpen && nowMs - this.#heardAtMs > this.#expiresMs + silenceMs;
  }

  /** The server has sent something. */
  heard(): void {
    this.#heardAtMs = performance.now();
  }

  /** A message came, at this sequence of the stream. */
  received(seq: number): void {
    const { turn } = this.#options;
    this.#left = Math.max(0, this.#left - 1);
    turn.received(seq);
    if (this.#left === 0) turn.end(true);
  }

  /** The server has no more messages for the request. */
  ended(): void {
    this.#left = 0;
    this.#options.turn.end(false);
  }

  /** The request and messages on their way are void. */
  reset(): void {
    this.#left = 0;
    this.#options.turn.reset();
  }

  /** The reader asks for messages again. */
  resumed(): void {
    this.#mayHaveMore = true;
  }

  /**
   * The next request, for up to `room` messages beside `bufferedBytes` that are buffered; undefined when it is another
   * reader's turn.
   */
  next(room: number, bufferedBytes: number): PullRequest | undefined {
    const asking = this.#options.turn.begin();
    if (asking === undefined) return undefined;
    this.heard();
    switch (asking) {
      case 'free':
        return this.#options.pullsAhead ? this.#ahead(room, bufferedBytes) : this.#forWaiting(room, bufferedBytes);
      case 'watch':
        return this.#ahead(1, bufferedBytes);
      case 'next': {
        const { expires: _, ...request } = this.#ahead(1, bufferedBytes);
        return { ...request, no_wait: true };
      }
    }
  }

  #ahead(batch: number, bufferedBytes: number): PullRequest & { readonly expires: number } {
    const { group, expiresMs } = this.#options;
    this.#left = batch;
    this.#expiresMs = expiresMs();
    return { batch, expires: toNanos(this.#expiresMs), group, ...this.#bytesAsked(bufferedBytes) };
  }

  #forWaiting(room: number, bufferedBytes: number): PullRequest {
    if (!this.#mayHaveMore) return this.#ahead(1, bufferedBytes);
    this.#mayHaveMore = false;
    this.#left = room;
    this.#expiresMs = 0;
    return { batch: room, no_wait: true, group: this.#options.group, ...this.#bytesAsked(bufferedBytes) };
  }

  /** At least one message is requested, however large. */
  #bytesAsked(bufferedBytes: number): { readonly max_bytes?: number } {
    const { bufferedBytesMax, messageBytesMax } = this.#options;
    if (bufferedBytesMax === undefined) return {};
    return { max_bytes: Math.max(bufferedBytesMax - bufferedBytes, messageBytesMax * 2) };
  }
}
