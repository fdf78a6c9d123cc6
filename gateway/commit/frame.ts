import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';

const initialBytes = 32 * 1024;

/** Events on their way to the log in one message, with those who wait for them. */
export class Frame {
  readonly writer = new FrameWriter(initialBytes);
  readonly #waiters: FrameWaiter[] = [];
  readonly #tags: number[] = [];
  /** When the first event came, on the monotonic clock. */
  openedAtMs = 0;

  add(head: string | Uint8Array, { body, start, end }: EventSlice, waiter: FrameWaiter, tag: number): void {
    this.writer.appendEnvelope(head, body, start, end);
    this.#waiters.push(waiter);
    this.#tags.push(tag);
  }

  /** Tells everyone and empties the frame for its next use. */
  decide(outcome: FrameOutcome): void {
    for (let i = 0; i < this.#waiters.length; i += 1) this.#waiters[i]?.frameDecided(outcome, this.#tags[i] ?? 0);
    this.#waiters.length = 0;
    this.#tags.length = 0;
    this.writer.reset();
  }
}

/** One event's JSON within the body it came in: body[start, end). Made once a request and set anew for each of its events. */
export class EventSlice {
  readonly body: Buffer;
  start = 0;
  end: number;

  constructor(body: Buffer) {
    this.body = body;
    this.end = body.length;
  }

  get length(): number {
    return this.end - this.start;
  }
}

/** What became of the frame an event travelled in. `stalled`: the log did not answer in time for those before it. */
export type FrameOutcome = 'stored' | PublishFailure | 'stalled';

/** Someone who waits for the log to take an event. */
export type FrameWaiter = {
  /** Called once per event appended, when its frame is decided. `tag` is what was given with the event. */
  frameDecided(outcome: FrameOutcome, tag: number): void;
};
