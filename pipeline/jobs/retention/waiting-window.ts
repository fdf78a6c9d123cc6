import { fairLevel, keptOfQuota } from '../../../shared/limits/index.ts';
import type { ConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';

/** The backlog of the readers of one account, and the average size of its messages in bytes. */
export type AccountWaiting = {
  readonly readers: readonly Pick<ConsumerProgress, 'name' | 'ackedSeq' | 'waiting' | 'unacknowledged'>[];
  readonly meanBytes: number;
};

export type WindowLimits = {
  /** Bytes that may wait for the readers of one account. */
  readonly accountMax: number;
  /** Bytes that may wait for the readers of all accounts together. */
  readonly capacity: number;
  /** The newest sequence of the stream. */
  readonly lastSeq: number;
};

/** A reader, and the sequence up to which it has to skip. */
export type PassOver = { readonly reader: string; readonly upToSeq: number };

/**
 * The readers with a larger backlog than their account's quota, and the sequences up to which they have to skip. The
 * slowest reader determines an account's backlog; readers that are not behind lose nothing. The messages of an account
 * are assumed to be spread evenly over the stream; the next check corrects the error of this assumption. Pure.
 */
export function passOversBySize(accounts: readonly AccountWaiting[], limits: WindowLimits): PassOver[] {
  const { accountMax, capacity, lastSeq } = limits;
  const sizes = accounts.map(({ readers, meanBytes }) => Math.max(0, ...readers.map(framesOf)) * meanBytes);
  const level = Math.min(accountMax, fairLevel(sizes, capacity));
  return accounts.flatMap(({ readers, meanBytes }) =>
    readers.flatMap((reader) => {
      const frames = framesOf(reader);
      if (frames * meanBytes <= level) return [];
      const kept = Math.floor(keptOfQuota(level) / meanBytes);
      const upToSeq = reader.ackedSeq + Math.ceil((lastSeq - reader.ackedSeq) * (1 - kept / frames));
      return [{ reader: reader.name, upToSeq }];
    }),
  );
}

const framesOf = ({ waiting, unacknowledged }: Pick<ConsumerProgress, 'waiting' | 'unacknowledged'>): number =>
  waiting + unacknowledged;
