import { findDeadLetter, listDeadLetters } from '../../shared/nats/messages/list-dead-letters.ts';
import type {
  DeadLetterBounds,
  DeadLetterPage,
  DeadLetterPageRequest,
  ListedDeadLetter,
} from '../../shared/nats/messages/list-dead-letters.ts';
import type { DeadLetterFilter } from '../../shared/contracts/events/dead-letter.ts';
import type { FollowedErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import { deleteDeadLetters } from '../../shared/nats/messages/delete-dead-letters.ts';
import type { DeletedDeadLetters, DeletionRange } from '../../shared/nats/messages/delete-dead-letters.ts';
import { TooManyReplaysError, createReplayStore } from '../../shared/nats/buckets/replay-store.ts';
import type { ReplayStore } from '../../shared/nats/buckets/replay-store.ts';
import { PublishError } from '../../shared/nats/publish/publisher.ts';
import { defineService } from '../api/services.ts';
import type { ApiError } from '../api/api-error.ts';
import { tooMany, unavailable } from '../api/api-error.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';

/** Dead letters and replays in the log. Throws a 503 if the log does not answer. */
export type ReplayService = ReplayStore & {
  deadLetters(destinationId: string, page: DeadLetterPageRequest): Promise<DeadLetterPage>;
  deadLetter(destinationId: string, seq: number): Promise<ListedDeadLetter | undefined>;
  deleteDeadLetters(
    destinationId: string,
    request: { readonly filter: DeadLetterFilter; readonly range?: DeletionRange | undefined },
  ): Promise<DeletedDeadLetters>;
};

export const replays = defineService<ReplayService>('replays');

/**
 * Limits in bytes and time for the reads of one page of dead letters, or of one call that deletes some. A page that
 * reaches a limit is short, and the next page continues there.
 */
const usualBounds: DeadLetterBounds = { bytesMax: 8 * 1024 ** 2, timeMs: 3_000 };

export function createReplayService(
  logBuckets: Pick<LogBuckets, 'connection' | 'buckets'>,
  erasures: Pick<FollowedErasures, 'isEventErased' | 'untilCurrent'>,
  bounds: DeadLetterBounds = usualBounds,
): ReplayService {
  // The buckets are opened again if the log was lost.
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
    deadLetters: (destinationId, page) =>
      ask(async () => {
        await erasures.untilCurrent(AbortSignal.timeout(bounds.timeMs));
        const options = { ...bounds, isErased: erasures.isEventErased };
        return listDeadLetters(logBuckets.connection, destinationId, page, options);
      }),
    deadLetter: (destinationId, seq) =>
      ask(async () => {
        await erasures.untilCurrent(AbortSignal.timeout(bounds.timeMs));
        return findDeadLetter(logBuckets.connection, destinationId, seq, { isErased: erasures.isEventErased });
      }),
    deleteDeadLetters: (destinationId, request) =>
      ask(() => deleteDeadLetters(logBuckets.connection, destinationId, request, bounds)),
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
  if (error instanceof PublishError && error.reason === 'full') {
    const failure = unavailable('the log has no room for this change: its bucket REPLAYS, or its disk, is full');
    failure.cause = error;
    return failure;
  }
  if (!(error instanceof TooManyReplaysError)) return logAway(error);
  return tooMany(`${error.message}; cancel one, or try again when one has ended`);
}
