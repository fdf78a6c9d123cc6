import type { viewSending } from '../health/view-sending.ts';
import type { DestinationBacklog } from '../health/log-figures.ts';

/** What is known about sending to a destination at the moment. */
export type DestinationNow = {
  readonly sending: Pick<ReturnType<typeof viewSending>, 'breaker' | 'isAccessRefused'>;
  /** Undefined while the log does not answer. */
  readonly backlog: DestinationBacklog | undefined;
};

/** Why an event without an outcome at a destination waits there. Pure. */
export function whyWaiting({ sending, backlog }: DestinationNow): string {
  if (sending.isAccessRefused)
    return 'The platform refuses access, as with a wrong key or token: events wait until it grants it.';
  if (sending.breaker === 'open') return 'Sending is paused after repeated failures, and is retried automatically.';
  if (sending.breaker === 'probing') return 'Sending resumes after repeated failures, one request at a time.';
  if (backlog === undefined) return 'The log did not respond: the backlog is unknown.';
  const { waitingFrames, retryingFrames } = backlog;
  if (waitingFrames > 0)
    return `Not read yet: ${countOf(waitingFrames, 'batch', 'batches')} in the log wait for this destination.`;
  if (retryingFrames > 0)
    return `The event may wait for an earlier event of its visitor: ${countOf(retryingFrames, 'batch', 'batches')} wait for a retry.`;
  return 'No events wait for this destination. The outcome was not recorded: a busy account keeps only a sample.';
}

const countOf = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
