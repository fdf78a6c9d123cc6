import { createInbox } from 'nats';
import type { Msg } from 'nats';
import { withDeadline } from './connection.ts';
import type { LogConnection } from './connection.ts';
import { ensureConsumer } from './consumers.ts';
import type { DurableConsumer } from './consumers.ts';
import { readDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import type { LossWatch } from './predecessors.ts';

/**
 * A durable consumer being read: pulls only what the reader has room for, so nothing piles up in the client,
 * and closing hands back at once what was not taken.
 */
export type Cursor = {
  /** Waits for at least one message and returns up to `max` of those that are here; [] when closed. */
  take(max: number): Promise<Delivery[]>;
  /** Messages pulled and not taken yet. */
  readonly buffered: number;
  /** Stops asking for messages; those on their way stay in the buffer. `resume` goes on. */
  pause(): void;
  resume(): void;
  /** Stops pulling and hands back what was not taken, in order, so that the next reader gets it at once. */
  close(): Promise<void>;
};

export type CursorOptions = {
  readonly consumer: DurableConsumer;
  /** Messages pulled ahead of the reader, at most. */
  readonly bufferedMax: number;
  /** Told whenever pulling does not go as it should; the cursor helps itself. */
  readonly onTrouble?: (trouble: CursorTrouble) => void;
  /** Is told of every message as it comes. */
  readonly losses?: LossWatch;
};

/** What keeps a cursor from its messages, and for how long it has by now: 0 for the first of what belongs together. */
export type CursorTrouble =
  /** Nobody answers for the consumer: it has no leader at the moment, or was deleted. It is looked for. */
  | { readonly kind: 'unanswered'; readonly reason: string; readonly lastsMs: number }
  /** Asking the log failed. It is asked again. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly lastsMs: number }
  /** The consumer was gone, and has been made anew. */
  | { readonly kind: 'made-anew' };

const expiresMs = 10_000;
const heartbeatMs = 3_000;
const silenceMaxMs = heartbeatMs * 2 + 1_000;
const retryDelayMs = 250;
const drainDeadlineMs = 2_000;
const toNanos = (ms: number): number => ms * 1e6;

/** Opens a cursor; makes the consumer when it is missing. */
export async function openCursor(connection: LogConnection, options: CursorOptions): Promise<Cursor> {
  await ensureConsumer(connection, options.consumer);
  return new PullCursor(connection, options);
}

class PullCursor implements Cursor {
  readonly #connection: LogConnection;
  readonly #options: CursorOptions;
  readonly #inbox = createInbox();
  readonly #buffer: Delivery[] = [];
  readonly #drain: () => Promise<void>;
  #requested = 0;
  #lastHeardMs = performance.now();
  #troubleSinceMs: number | undefined;
  #waiting: ((value: void) => void) | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  readonly #watchdog: NodeJS.Timeout;
  #paused = false;
  #closed = false;

  constructor(connection: LogConnection, options: CursorOptions) {
    this.#connection = connection;
    this.#options = options;
    const subscription = connection.nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else this.#failed(error);
      },
    });
    // A pull request dies with the connection it was made on.
    const offReconnect = connection.onReconnect(() => this.#pullAnew());
    this.#watchdog = setInterval(() => this.#checkSilence(), heartbeatMs);
    this.#drain = () => {
      offReconnect();
      // Ends the pull request under way and waits for what the server had sent by then.
      return withDeadline(subscription.drain(), drainDeadlineMs);
    };
    this.#pull();
  }

  get buffered(): number {
    return this.#buffer.length;
  }

  async take(max: number): Promise<Delivery[]> {
    while (this.#buffer.length === 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    if (this.#closed) return [];
    const taken = this.#buffer.splice(0, max);
    this.#pull();
    return taken;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#pull();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#watchdog);
    clearTimeout(this.#retryTimer);
    this.#waiting?.();
    // Handing back before the request has ended would deliver to ourselves again, behind later messages.
    await this.#drain();
    if (this.#requested > 0 && this.#buffer.length > 0) await this.#forgetRequest();
    for (const delivery of this.#buffer.splice(0)) delivery.nak();
  }

  /** The server drops requests nobody listens to when asked about the consumer; until then it would deliver to them. */
  async #forgetRequest(): Promise<void> {
    const { stream, name } = this.#options.consumer;
    if (this.#connection.connected)
      await withDeadline(this.#connection.jsm.consumers.info(stream, name), drainDeadlineMs);
  }

  #pull(): void {
    if (this.#closed || this.#paused || this.#requested > 0 || !this.#connection.connected) return;
    const room = this.#options.bufferedMax - this.#buffer.length;
    if (room < 1) return;
    this.#requested = room;
    this.#lastHeardMs = performance.now();
    const { stream, name } = this.#options.consumer;
    const request = { batch: room, expires: toNanos(expiresMs), idle_heartbeat: toNanos(heartbeatMs) };
    this.#connection.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, JSON.stringify(request), {
      reply: this.#inbox,
    });
  }

  #receive(message: Msg): void {
    this.#lastHeardMs = performance.now();
    const delivery = readDelivery(this.#connection, message);
    if (delivery === undefined) {
      this.#readStatus(message);
      return;
    }
    this.#troubleSinceMs = undefined;
    this.#options.losses?.note(delivery);
    this.#buffer.push(delivery);
    this.#requested = Math.max(0, this.#requested - 1);
    this.#waiting?.();
    this.#pull();
  }

  #readStatus(message: Msg): void {
    const code = message.headers?.code ?? 0;
    const description = message.headers?.description ?? '';
    if (this.#closed) return;
    if (code === 100) {
      this.#troubleSinceMs = undefined;
      return;
    }
    if (code === 404 || code === 408 || (code === 409 && /batch completed|message size/i.test(description))) {
      this.#troubleSinceMs = undefined;
      this.#pullAnew();
      return;
    }
    // 503: nobody answers for the consumer. 409: deleted, leader changed, server shutting down.
    if (/consumer deleted/i.test(description) || code === 503) {
      const reason = `${code} ${description}`.trimEnd();
      this.#options.onTrouble?.({ kind: 'unanswered', reason, lastsMs: this.#troubleMs() });
    }
    this.#recover();
  }

  #pullAnew(): void {
    this.#requested = 0;
    this.#pull();
  }

  #checkSilence(): void {
    if (this.#requested === 0 || !this.#connection.connected) return;
    if (performance.now() - this.#lastHeardMs > silenceMaxMs) this.#recover();
  }

  #recover(): void {
    if (this.#retryTimer !== undefined || this.#closed) return;
    this.#retryTimer = setTimeout(() => void this.#reopen(), retryDelayMs);
  }

  async #reopen(): Promise<void> {
    try {
      const ensured = this.#connection.connected && (await ensureConsumer(this.#connection, this.#options.consumer));
      if (ensured === 'made') this.#options.onTrouble?.({ kind: 'made-anew' });
      this.#retryTimer = undefined;
      this.#pullAnew();
    } catch (error) {
      this.#retryTimer = undefined;
      this.#failed(error);
      this.#recover();
    }
  }

  #failed(error: unknown): void {
    this.#options.onTrouble?.({ kind: 'failed', error, lastsMs: this.#troubleMs() });
  }

  /** Time since trouble began; it begins now where all was well. */
  #troubleMs(): number {
    const nowMs = performance.now();
    this.#troubleSinceMs ??= nowMs;
    return nowMs - this.#troubleSinceMs;
  }
}
