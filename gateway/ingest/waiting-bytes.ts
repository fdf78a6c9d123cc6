import type { ConsumerProgress, StreamState } from '../../shared/nats/streams/stream-progress.ts';

type IngestState = Pick<StreamState, 'bytes' | 'messages' | 'firstSeq' | 'lastSeq'>;

/** How far the resolver of a partition is. */
export type ResolverProgress = Pick<ConsumerProgress, 'ackedSeq' | 'waiting' | 'unacknowledged'>;

/** What a look at INGEST found. A partition whose resolver could not be read, or never ran, is not among `resolvers`. */
export type IngestLook<State extends IngestState> = {
  readonly state: State;
  readonly resolvers: ReadonlyMap<number, ResolverProgress>;
};

type BytesByAccount = Map<string, number>;

/** What was stored in a partition between two looks: at most up to a sequence. */
type Stored = { toSeq: number; readonly byAccount: BytesByAccount };

/** More of a partition are joined, the oldest first. */
const storedMax = 256;

/**
 * The bytes of each account that this gateway stored and that wait for the resolver of their partition. The log does not
 * count by account, but the resolver of a partition acknowledges its frames in order, up to a sequence. Frames that an
 * earlier process stored are not counted. What the resolver moved to the queue of an account is not counted here either:
 * the pipelines report it.
 */
export class WaitingBytes {
  readonly #partitions = new Map<number, Stored[]>();
  /** Stored since the last look began, by partition. */
  #since = new Map<number, BytesByAccount>();
  #sinceBytes = 0;
  readonly #byAccount: BytesByAccount = new Map();
  /** Where INGEST ended at the last look. */
  #seenSeq = 0;
  #grown = { stepBytes: Infinity, nextBytes: Infinity, call: (): void => undefined };

  /** Stored since the last look began. */
  get sinceBytes(): number {
    return this.#sinceBytes;
  }

  get isEmpty(): boolean {
    return this.#byAccount.size === 0;
  }

  add(partition: number, accountId: string, bytes: number): void {
    let since = this.#since.get(partition);
    if (since === undefined) this.#since.set(partition, (since = new Map()));
    addTo(since, accountId, bytes);
    addTo(this.#byAccount, accountId, bytes);
    this.#sinceBytes += bytes;
    if (this.#sinceBytes < this.#grown.nextBytes) return;
    this.#grown.nextBytes = this.#sinceBytes + this.#grown.stepBytes;
    this.#grown.call();
  }

  /** Calls `call` each time that so much was stored between two looks. */
  onGrown(stepBytes: number, call: () => void): void {
    this.#grown = { stepBytes, nextBytes: stepBytes, call };
  }

  /** Looks at the log. `read` gets the partitions whose resolvers matter, and reads the stream before these. */
  async look<State extends IngestState>(
    read: (partitions: readonly number[]) => Promise<IngestLook<State>>,
  ): Promise<State> {
    for (const [partition, byAccount] of this.#since) {
      // Until a look succeeds it is not known up to which sequence this is.
      const stored: Stored = { toSeq: Infinity, byAccount };
      const ofPartition = this.#partitions.get(partition);
      if (ofPartition === undefined) this.#partitions.set(partition, [stored]);
      else ofPartition.push(stored);
    }
    this.#since = new Map();
    this.#sinceBytes = 0;
    this.#grown.nextBytes = this.#grown.stepBytes;
    const { state, resolvers } = await read([...this.#partitions.keys()]);
    for (const [partition, stored] of this.#partitions) {
      for (const one of stored) if (one.toSeq === Infinity) one.toSeq = state.lastSeq;
      const left = this.#forget(stored, state, this.#resolvedSeq(state, resolvers.get(partition)));
      if (left.length > 0) this.#partitions.set(partition, join(left));
      else this.#partitions.delete(partition);
    }
    this.#seenSeq = state.lastSeq;
    return state;
  }

  /**
   * By account, with the bytes in queues, `queued`; together at most `bytes`, what the log has. A frame counts twice while
   * it is being copied to a queue.
   */
  all(bytes: number, queued: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const all = new Map(this.#byAccount);
    for (const [accountId, ofAccount] of queued) addTo(all, accountId, ofAccount);
    let sum = 0;
    for (const ofAccount of all.values()) sum += ofAccount;
    const scale = Math.min(1, bytes / Math.max(1, sum));
    for (const [accountId, ofAccount] of all) all.set(accountId, ofAccount * scale);
    return all;
  }

  /** Up to which sequence the frames of a partition are resolved. */
  #resolvedSeq({ firstSeq }: IngestState, resolver: ResolverProgress | undefined): number {
    const removedSeq = firstSeq - 1;
    if (resolver === undefined) return removedSeq;
    // In a cluster a consumer may not know of the newest frames yet: one that has nothing to do has done what was seen before.
    const isIdle = resolver.waiting + resolver.unacknowledged === 0;
    return Math.max(removedSeq, resolver.ackedSeq, isIdle ? this.#seenSeq : 0);
  }

  #forget(stored: readonly Stored[], { messages, lastSeq }: IngestState, resolvedSeq: number): Stored[] {
    // A log that was made again, or lost its end, begins with lower sequences.
    const isGone = ({ toSeq }: Stored): boolean => messages === 0 || toSeq <= resolvedSeq || toSeq > lastSeq;
    for (const { byAccount } of stored.filter(isGone)) {
      for (const [accountId, bytes] of byAccount) addTo(this.#byAccount, accountId, -bytes);
    }
    return stored.filter((one) => !isGone(one));
  }
}

function join(stored: Stored[]): Stored[] {
  while (stored.length > storedMax) {
    const [first, second] = stored.splice(0, 2);
    if (first === undefined || second === undefined) break;
    for (const [accountId, bytes] of first.byAccount) addTo(second.byAccount, accountId, bytes);
    stored.unshift(second);
  }
  return stored;
}

function addTo(map: BytesByAccount, key: string, bytes: number): void {
  const sum = (map.get(key) ?? 0) + bytes;
  if (sum > 0) map.set(key, sum);
  else map.delete(key);
}
