import type { ConsumerProgress, StreamState } from '../../shared/nats/streams/stream-progress.ts';

type IngestState = Pick<StreamState, 'bytes' | 'messages' | 'firstSeq' | 'lastSeq'>;

/** The position of the resolver of a partition. */
export type ResolverProgress = Pick<ConsumerProgress, 'ackedSeq' | 'waiting' | 'unacknowledged'>;

/** The result of a check of INGEST. `resolvers` lacks a partition whose resolver could not be read or never ran. */
export type IngestLook<State extends IngestState> = {
  readonly state: State;
  readonly resolvers: ReadonlyMap<number, ResolverProgress>;
};

type BytesByAccount = Map<string, number>;

/** The bytes stored in a partition between two checks, in frames up to the sequence `toSeq`. */
type Stored = { toSeq: number; readonly byAccount: BytesByAccount };

/** Maximum number of entries of a partition. Beyond it, the oldest entries are joined. */
const storedMax = 256;

/**
 * The bytes of each account that this gateway stored and that wait for the resolver of their partition. The log does
 * not count by account, but the resolver of a partition acknowledges its frames in order, up to a sequence. Frames that
 * an earlier process stored are not counted, nor are events that the resolver moved to the queue of an account:
 * pipelines report those.
 */
export class WaitingBytes {
  readonly #partitions = new Map<number, Stored[]>();
  /** Bytes stored since the last check began, by partition and account. */
  #since = new Map<number, BytesByAccount>();
  #sinceBytes = 0;
  readonly #byAccount: BytesByAccount = new Map();
  /** The last sequence of INGEST at the last check. */
  #seenSeq = 0;
  #grown = { stepBytes: Infinity, nextBytes: Infinity, call: (): void => undefined };

  /** Bytes stored since the last check began. */
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

  /** Calls `call` each time that this many bytes were stored between two checks. */
  onGrown(stepBytes: number, call: () => void): void {
    this.#grown = { stepBytes, nextBytes: stepBytes, call };
  }

  /**
   * Checks the log. `read` gets the partitions whose resolvers it has to read; it reads the stream before the
   * resolvers.
   */
  async look<State extends IngestState>(
    read: (partitions: readonly number[]) => Promise<IngestLook<State>>,
  ): Promise<State> {
    for (const [partition, byAccount] of this.#since) {
      // The last sequence is unknown until a check succeeds.
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
   * Bytes by account, including those in queues (`queued`); in total at most `bytes`, the size of the log. A frame
   * counts twice while it is copied to a queue.
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

  /** The sequence up to which the frames of a partition are resolved. */
  #resolvedSeq({ firstSeq }: IngestState, resolver: ResolverProgress | undefined): number {
    const removedSeq = firstSeq - 1;
    if (resolver === undefined) return removedSeq;
    // In a cluster a consumer might not know the newest frames yet; an idle consumer has finished all frames that were
    // seen earlier.
    const isIdle = resolver.waiting + resolver.unacknowledged === 0;
    return Math.max(removedSeq, resolver.ackedSeq, isIdle ? this.#seenSeq : 0);
  }

  #forget(stored: readonly Stored[], { messages, lastSeq }: IngestState, resolvedSeq: number): Stored[] {
    // A recreated log, or one that lost its end, begins with lower sequences.
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
