import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import type { EventSlice } from './event-slice.ts';
import type { FrameOutcome, FrameWaiter } from './frame-outcome.ts';

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
