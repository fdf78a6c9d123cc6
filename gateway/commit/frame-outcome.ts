import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';

/** What became of the frame an event travelled in. `stalled`: the log did not answer in time for those before it. */
export type FrameOutcome = 'stored' | PublishFailure | 'stalled';

/** Someone who waits for the log to take an event. */
export type FrameWaiter = {
  /** Called once per event appended, when its frame is decided. `tag` is what was given with the event. */
  frameDecided(outcome: FrameOutcome, tag: number): void;
};
