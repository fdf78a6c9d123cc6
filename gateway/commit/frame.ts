import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';

const initialBytes = 32 * 1024;

/** Events that are published in one message, with the requests that wait for them. */
export class Frame {
  readonly writer = new FrameWriter(initialBytes);
  readonly #waiters: FrameWaiter[] = [];
  readonly #tags: number[] = [];
  /** The account of each run of consecutive events, and the bytes and events of the run. */
  readonly #accounts: string[] = [];
  readonly #accountBytes: number[] = [];
  readonly #accountEvents: number[] = [];
  /** When the first event arrived, in ms on the monotonic clock. */
  openedAtMs = 0;

  add(head: string | Uint8Array, slice: EventSlice, waiter: FrameWaiter, tag: number): void {
    const { body, start, end, accountId } = slice;
    const before = this.writer.length;
    this.writer.appendEnvelope(head, body, start, end);
    const bytes = this.writer.length - before;
    const last = this.#accounts.length - 1;
    if (last >= 0 && this.#accounts[last] === accountId) {
      this.#accountBytes[last] = (this.#accountBytes[last] ?? 0) + bytes;
      this.#accountEvents[last] = (this.#accountEvents[last] ?? 0) + 1;
    } else {
      this.#accounts.push(accountId);
      this.#accountBytes.push(bytes);
      this.#accountEvents.push(1);
    }
    this.#waiters.push(waiter);
    this.#tags.push(tag);
  }

  /** Calls `onRun` once for each run of consecutive events of one account, so some accounts get several calls. */
  eachAccount(onRun: (accountId: string, bytes: number, events: number) => void): void {
    for (let i = 0; i < this.#accounts.length; i += 1)
      onRun(this.#accounts[i] ?? '', this.#accountBytes[i] ?? 0, this.#accountEvents[i] ?? 0);
  }

  /** Reports the outcome to the waiters and empties the frame for its next use. */
  decide(outcome: FrameOutcome): void {
    for (let i = 0; i < this.#waiters.length; i += 1) this.#waiters[i]?.frameDecided(outcome, this.#tags[i] ?? 0);
    this.#waiters.length = 0;
    this.#tags.length = 0;
    this.#accounts.length = 0;
    this.#accountBytes.length = 0;
    this.#accountEvents.length = 0;
    this.writer.reset();
  }
}

/** One event's JSON within the request's body: body[start, end). Created once per request, and reset for each event. */
export class EventSlice {
  readonly body: Buffer;
  /** The account of the request. */
  readonly accountId: string;
  start = 0;
  end: number;

  constructor(body: Buffer, accountId: string) {
    this.body = body;
    this.accountId = accountId;
    this.end = body.length;
  }

  get length(): number {
    return this.end - this.start;
  }
}

/** The result of the frame that held an event. `stalled`: the log did not answer earlier frames in time. */
export type FrameOutcome = 'stored' | PublishFailure | 'stalled';

/** A request that waits for the log to store its events. */
export type FrameWaiter = {
  /** Called once for each appended event, when the outcome of its frame is known. `tag` was passed with the event. */
  frameDecided(outcome: FrameOutcome, tag: number): void;
};
