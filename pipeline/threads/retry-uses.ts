import { retriesOfDestination } from '../../shared/contracts/subjects.ts';
import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';
import type { RetryUse } from '../workers/dispatch/retry/retry-share.ts';

/** What the retry log holds, and of whom, as a thread looks at it every few seconds for all of its dispatchers. */
export type RetryUses = {
  /** Undefined before the first look, and where the log names no limit. */
  readonly current: RetryUse | undefined;
  /** Takes what the stream says of itself: its state, and the messages by subject. */
  look(state: StreamState, messages: ReadonlyMap<string, number>): void;
};

/** `dispatchedTo` names the destinations of an account. */
export function createRetryUses(dispatchedTo: (accountId: string) => readonly string[]): RetryUses {
  let current: RetryUse | undefined;
  return {
    get current() {
      return current;
    },
    look({ bytes, bytesMax, messages: all }, messages) {
      const byDestination = new Map<string, number>();
      for (const [subject, count] of messages) {
        const destination = retriesOfDestination(subject.split('.')[1] ?? '');
        byDestination.set(destination, (byDestination.get(destination) ?? 0) + count);
      }
      // The log says how many messages a subject has, and not what they weigh: each is taken for one like all.
      const mean = all === 0 ? 0 : bytes / all;
      const known = new Map<string, number>();
      const usedBy = (accountId: string): number => {
        const counted = known.get(accountId);
        if (counted !== undefined) return counted;
        const counts = dispatchedTo(accountId).map((id) => byDestination.get(retriesOfDestination(id)) ?? 0);
        const used = counts.reduce((sum, count) => sum + count, 0) * mean;
        known.set(accountId, used);
        return used;
      };
      current = bytesMax === undefined ? undefined : { used: bytes, capacity: bytesMax, usedBy };
    },
  };
}
