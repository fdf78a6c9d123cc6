import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';

type IngestState = Pick<StreamState, 'bytes' | 'messages' | 'firstSeq' | 'lastSeq'>;

/** What was stored between two looks at the log: it stands there up to a sequence. */
type Stored = { toSeq: number; readonly byAccount: Map<string, number> };

/** More than this go together, the oldest first. */
const storedMax = 1_024;

/**
 * What this gateway has stored for each account that still waits to be resolved, in bytes. The log does not say whose its bytes
 * are, but where it begins: what was stored before that is resolved and removed. So it is known to the second,
 * and never too little but for what an earlier process stored.
 */
export class WaitingBytes {
  #stored: Stored[] = [];
  /** Since the last look was asked for. */
  #since = new Map<string, number>();
  #sinceBytes = 0;
  readonly #byAccount = new Map<string, number>();
  #grown = { stepBytes: Infinity, nextBytes: Infinity, call: (): void => undefined };

  /** Stored since the last look was asked for. */
  get sinceBytes(): number {
    return this.#sinceBytes;
  }

  get isEmpty(): boolean {
    return this.#byAccount.size === 0;
  }

  add(accountId: string, bytes: number): void {
    addTo(this.#since, accountId, bytes);
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

  /** Looks at the log. */
  async look<State extends IngestState>(read: () => Promise<State>): Promise<State> {
    const added: Stored = { toSeq: Infinity, byAccount: this.#since };
    this.#since = new Map();
    this.#sinceBytes = 0;
    this.#grown.nextBytes = this.#grown.stepBytes;
    // What cannot be looked at stays, up to where the next look sees the log end.
    if (added.byAccount.size > 0) this.#stored.push(added);
    const state = await read();
    for (const stored of this.#stored) if (stored.toSeq === Infinity) stored.toSeq = state.lastSeq;
    this.#forget(state);
    this.#join();
    return state;
  }

  /** By account; together no more than the log has. */
  all(bytes: number): ReadonlyMap<string, number> {
    let sum = 0;
    for (const ofAccount of this.#byAccount.values()) sum += ofAccount;
    // A partition that stands still keeps the beginning of the log where it is, while others are resolved.
    const scale = Math.min(1, bytes / Math.max(1, sum));
    return new Map([...this.#byAccount].map(([accountId, ofAccount]) => [accountId, ofAccount * scale]));
  }

  #forget({ messages, firstSeq, lastSeq }: IngestState): void {
    // A log that was made again, or lost its end, begins with lower sequences.
    const isGone = ({ toSeq }: Stored): boolean => messages === 0 || toSeq < firstSeq || toSeq > lastSeq;
    for (const { byAccount } of this.#stored.filter(isGone)) {
      for (const [accountId, bytes] of byAccount) addTo(this.#byAccount, accountId, -bytes);
    }
    this.#stored = this.#stored.filter((stored) => !isGone(stored));
  }

  #join(): void {
    while (this.#stored.length > storedMax) {
      const [first, second] = this.#stored.splice(0, 2);
      if (first === undefined || second === undefined) return;
      for (const [accountId, bytes] of first.byAccount) addTo(second.byAccount, accountId, bytes);
      this.#stored.unshift(second);
    }
  }
}

function addTo(map: Map<string, number>, key: string, bytes: number): void {
  const sum = (map.get(key) ?? 0) + bytes;
  if (sum > 0) map.set(key, sum);
  else map.delete(key);
}
