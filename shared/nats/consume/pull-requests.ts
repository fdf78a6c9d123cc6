import type { PullTurn } from './pull-turns.ts';

/** The body of a pull request in nats-server's terms: `expires` in ns, `max_bytes` in bytes. */
export type PullRequest = { readonly batch: number; readonly group: string; readonly max_bytes?: number } & (
  | { readonly expires: number }
  | { readonly no_wait: true }
);

export type PullRequestsOptions = {
  readonly group: string;
  /** Whether messages are requested before the reader waits for them. */
  readonly pullsAhead: boolean;
  /** Maximum bytes of buffered messages, exceeded by at most two messages of the largest size. Undefined: no limit. */
  readonly bufferedBytesMax: number | undefined;
  readonly messageBytesMax: number;
  /** This reader's turn among the readers of its subject. */
  readonly turn: PullTurn;
  /** How long a request waits at the server, in ms. */
  expiresMs(): number;
};

/** The end of a request may arrive this late, in ms. */
const silenceMs = 1_500;
const toNanos = (ms: number): number => ms * 1e6;

/** The pull request that waits at the server, and the next one. */
export class PullRequests {
  readonly #options: PullRequestsOptions;
  /** Messages that may still arrive for the open request. */
  #left = 0;
  #expiresMs = 0;
  #heardAtMs = performance.now();
  /**
   * Whether stored messages may be left. A reader that does not pull ahead requests those first, and then waits for one
   * new message.
   */
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

  /** Call it when the server has sent a message or a status. */
  heard(): void {
    this.#heardAtMs = performance.now();
  }

  /** A message arrived, with this sequence in the stream. */
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

  /** The request is void, and so are its messages in transit. */
  reset(): void {
    this.#left = 0;
    this.#options.turn.reset();
  }

  /** The reader waits for messages again. */
  resumed(): void {
    this.#mayHaveMore = true;
  }

  /**
   * The next request, for up to `room` messages; `bufferedBytes` are buffered already. Undefined if it is the turn of
   * another reader.
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

  /** The limit always admits a message of the largest size. */
  #bytesAsked(bufferedBytes: number): { readonly max_bytes?: number } {
    const { bufferedBytesMax, messageBytesMax } = this.#options;
    if (bufferedBytesMax === undefined) return {};
    return { max_bytes: Math.max(bufferedBytesMax - bufferedBytes, messageBytesMax * 2) };
  }
}
