import { listDeadLetters } from '../../shared/nats/messages/list-dead-letters.ts';
import type { DeadLetterPage, DeadLetterPageRequest } from '../../shared/nats/messages/list-dead-letters.ts';
import { TooManyReplaysError, createReplayStore } from '../../shared/nats/buckets/replay-store.ts';
import type { ReplayStore } from '../../shared/nats/buckets/replay-store.ts';
import type { ApiError } from '../api/api-error.ts';
import { tooMany, unavailable } from '../api/api-error.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';

/** Dead letters and replays, as the log has them. A log that does not answer is a 503. */
export type ReplayService = ReplayStore & {
  deadLetters(destinationId: string, page: DeadLetterPageRequest): Promise<DeadLetterPage>;
};

export function createReplayService(logBuckets: Pick<LogBuckets, 'connection' | 'buckets'>): ReplayService {
  // The buckets are opened anew where the log was lost.
  const store = (): ReplayStore => createReplayStore(logBuckets.buckets.replays);
  const ask = async <Answer>(question: () => Promise<Answer>): Promise<Answer> => {
    if (!logBuckets.connection.connected) throw logAway();
    try {
      return await question();
    } catch (error) {
      throw failureOfLog(error);
    }
  };
  return {
    deadLetters: (destinationId, page) => ask(() => listDeadLetters(logBuckets.connection, destinationId, page)),
    start: (accountId, destinationId, request) => ask(() => store().start(accountId, destinationId, request)),
    list: (destinationId) => ask(() => store().list(destinationId)),
    find: (destinationId, id) => ask(() => store().find(destinationId, id)),
    cancel: (destinationId, id) => ask(() => store().cancel(destinationId, id)),
  };
}

function logAway(cause?: unknown): ApiError {
  const failure = unavailable('the log cannot be reached or is busy, try again');
  failure.cause = cause;
  return failure;
}

function failureOfLog(error: unknown): ApiError {
  if (!(error instanceof TooManyReplaysError)) return logAway(error);
  return tooMany('too many replays of the destination wait; cancel one, or try again when one is over');
}
