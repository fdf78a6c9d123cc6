import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';
import type { RetryUse } from '../workers/dispatch/settlement/retry-quota.ts';

/** How full the retry log is. A thread checks this every few seconds for all its dispatchers. */
export type RetryUses = {
  readonly current: RetryUse;
  /** Records the result of a check: the state of the stream, and the number of messages by subject. */
  look(state: Pick<StreamState, 'bytes' | 'bytesMax'>, messages: ReadonlyMap<string, number>): void;
};

export type RetryUsesOptions = {
  /** Configured size of the retry log, in bytes, used until the first check. */
  readonly capacity: number;
  readonly destinationsOf: (accountId: string) => number;
  /** Undefined for a destination that no live version has. */
  readonly accountOf: (destinationId: string) => string | undefined;
};

export function createRetryUses({ capacity, destinationsOf, accountOf }: RetryUsesOptions): RetryUses {
  let current: RetryUse = { used: 0, capacity, accounts: 0, destinationsOf };
  return {
    get current() {
      return current;
    },
    look({ bytes, bytesMax = Infinity }, messages) {
      const accounts = new Set<string>();
      for (const subject of messages.keys()) {
        const accountId = accountOf(subject.split('.')[1] ?? '');
        if (accountId !== undefined) accounts.add(accountId);
      }
      current = { used: bytes, capacity: bytesMax, accounts: accounts.size, destinationsOf };
    },
  };
}
