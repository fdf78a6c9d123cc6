import type { FollowedErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Feed } from '../api/event-streams.ts';
import { defineService } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { readBeginning } from './read-beginning.ts';
import { searchLog } from './search-log.ts';
import type { FoundEvent, LogProgress, LogQuery } from './search-log.ts';

/** The report of a search, sent repeatedly until its status is no longer `running`. */
export type SearchReport = {
  readonly status: 'running' | 'done' | 'failed' | 'refused';
  readonly error: string | null;
  readonly phase: LogProgress['phase'] | null;
  readonly share: number;
  readonly messages: number;
  readonly found: number;
  /** False if there may be more events than were found. */
  readonly isComplete: boolean;
  readonly events: readonly JsonObject[];
};

export type LogSearches = {
  /**
   * A search that begins when its client connects and ends when the client disconnects. `view` turns found events into
   * the answer, one for one.
   */
  of(
    query: LogQuery,
    destinationIds: readonly string[],
    view: (found: readonly FoundEvent[]) => Promise<JsonObject[]>,
  ): Feed<SearchReport>;
};

export const logSearches = defineService<LogSearches>('log searches');

export type LogSearchesOptions = {
  readonly logBuckets: Pick<LogBuckets, 'connection' | 'buckets'>;
  readonly erasures: Pick<FollowedErasures, 'isEventErased' | 'untilCurrent'>;
  onFailure(error: unknown): void;
};

/**
 * Maximum number of searches at a time over all accounts; each account may run one. A search has one request to the log
 * in flight at a time.
 */
const searchesMax = 4;
const reportEveryMs = 400;
const erasuresMs = 30_000;

const nothing = { error: null, phase: null, share: 0, messages: 0, found: 0, isComplete: false, events: [] } as const;

export function createLogSearches({ logBuckets, erasures, onFailure }: LogSearchesOptions): LogSearches {
  const running = new Set<string>();
  const refusal = (accountId: string): string | undefined => {
    if (running.has(accountId)) return 'another search of this account is running: cancel it, or wait for it';
    return running.size >= searchesMax
      ? 'too many searches of other accounts are running: try again in a minute'
      : undefined;
  };
  return {
    of: (query, destinationIds, view) => ({
      subscribe(push) {
        const { accountId } = query;
        const error = refusal(accountId);
        if (error !== undefined) {
          push({ ...nothing, status: 'refused', error });
          return () => undefined;
        }
        running.add(accountId);
        const ended = new AbortController();
        let last: SearchReport = { ...nothing, status: 'running' };
        let reportedAtMs = -Infinity;
        const report = (next: SearchReport): void => {
          last = next;
          const nowMs = performance.now();
          if (next.status === 'running' && nowMs - reportedAtMs < reportEveryMs) return;
          reportedAtMs = nowMs;
          if (!ended.signal.aborted) push(next);
        };
        const onProgress = ({ phase, share, messages, found }: LogProgress): void =>
          report({ ...nothing, status: 'running', phase, share, messages, found: found.length });
        const run = async (): Promise<void> => {
          const untilErasuresKnown = (): Promise<void> =>
            erasures.untilCurrent(AbortSignal.any([ended.signal, AbortSignal.timeout(erasuresMs)]));
          await untilErasuresKnown();
          const { found, isComplete } = await searchLog(
            {
              connection: logBuckets.connection,
              signal: ended.signal,
              isErased: erasures.isEventErased,
              beginningOf: (destinationId) => readBeginning(logBuckets.buckets, destinationId),
              onProgress,
            },
            query,
            destinationIds,
          );
          const viewed = await view(found);
          // A search takes minutes, and a visitor may have been erased meanwhile.
          await untilErasuresKnown();
          const kept = new Set(found.flatMap(({ event }, index) => (erasures.isEventErased(event) ? [] : [index])));
          const events = viewed.filter((_, index) => kept.has(index));
          report({ ...last, status: 'done', share: 1, found: events.length, isComplete, events });
        };
        report(last);
        run()
          .catch((failure: unknown) => {
            if (ended.signal.aborted) return;
            onFailure(failure);
            report({ ...last, status: 'failed', error: 'reading the log failed: try again' });
          })
          .finally(() => running.delete(accountId));
        return () => ended.abort();
      },
    }),
  };
}
