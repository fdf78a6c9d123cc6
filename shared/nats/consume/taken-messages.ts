/** How a reader treats a message that arrives. */
export type Received =
  /** It was not here before, or was released. */
  | 'new'
  /** It is in work, or its ack is about to be sent: the copy is ignored. */
  | 'in-flight'
  /** It was acknowledged, but the server does not know: it is acknowledged again. */
  | 'acknowledged';

/** The messages that a reader has finished, for its successor. */
export type FinishedMessages = {
  /** Everything up to here is finished. */
  readonly upTo: number;
  /** Finished sequences above it, ascending. */
  readonly above: readonly number[];
  /** When the newest of them was stored, in ms since the epoch: the same sequence stored later is another message. */
  readonly storedUntilMs: number;
};

const released = 0;
const inFlight = 1;
const finished = 2;
const acknowledged = 3;
type State = typeof released | typeof inFlight | typeof finished | typeof acknowledged;

/**
 * The messages that one reader received, by their sequence in the stream. A reset consumer delivers everything above
 * its oldest unacknowledged message again, and a killed server may have forgotten the last acknowledgements: this state
 * tells which messages are in flight or done. Everything up to a point is done; above it each message has its state.
 */
export class TakenMessages {
  /** Ascending, with a state and a time each. Plain numbers, which garbage collection does not follow. */
  readonly #seqs: number[] = [];
  readonly #states: State[] = [];
  /** When the message was stored, or the latest time it may have been: later, the same sequence is another message. */
  readonly #storedMs: number[] = [];
  #doneUpTo: number;
  /**
   * The server has delivered everything up to this sequence since the last reset, so every message in between is known.
   */
  #receivedUpTo: number;
  #storedUntilMs: number;

  /** Everything up to `ackedSeq` that was stored by `ackedAtMs`, in ms since the epoch, is acknowledged. */
  constructor(ackedSeq: number, ackedAtMs: number) {
    this.#doneUpTo = ackedSeq;
    this.#receivedUpTo = ackedSeq;
    this.#storedUntilMs = ackedAtMs;
  }

  /** Messages between the oldest one that is not done and the newest. */
  get size(): number {
    return this.#seqs.length;
  }

  get finished(): FinishedMessages {
    const above = this.#seqs.filter((_, at) => (this.#states[at] ?? released) >= finished);
    return { upTo: this.#doneUpTo, above, storedUntilMs: this.#storedUntilMs };
  }

  /** Takes over what another reader has finished: it is acknowledged when the server hands it out. */
  restore({ upTo, above, storedUntilMs }: FinishedMessages): void {
    // Finished messages up to there were stored by then; no more is known of them.
    this.#storedUntilMs = upTo > this.#doneUpTo ? storedUntilMs : Math.max(this.#storedUntilMs, storedUntilMs);
    this.#doneUpTo = Math.max(this.#doneUpTo, upTo);
    for (const seq of above) if (seq > this.#doneUpTo) this.#set(seq, acknowledged, storedUntilMs);
    this.#advance();
  }

  /**
   * Finishes everything up to a sequence that was stored by then, except messages in flight. Returns how many messages
   * up to there are in flight or were finished.
   */
  skipTo(upTo: number, storedUntilMs: number): number {
    const known = this.#seqs.filter(
      (seq, at) => seq > this.#doneUpTo && seq <= upTo && this.#states[at] !== released,
    ).length;
    this.restore({ upTo, above: [], storedUntilMs });
    return known;
  }

  /** The server begins again after what is acknowledged. */
  rewound(ackedSeq: number): void {
    this.#receivedUpTo = ackedSeq;
    this.#doneUpTo = Math.max(this.#doneUpTo, ackedSeq);
    this.#advance();
  }

  /** A message arrived. It is in flight from now on if it is new. */
  received(seq: number, storedAtMs: number): Received {
    this.#receivedUpTo = Math.max(this.#receivedUpTo, seq);
    const at = this.#find(seq);
    const isTracked = this.#seqs[at] === seq;
    const knownUntilMs = isTracked ? (this.#storedMs[at] ?? 0) : this.#storedUntilMs;
    // The stream lost its end and reuses sequences: messages done from here on were other ones.
    if (storedAtMs > knownUntilMs) this.#doneUpTo = Math.min(this.#doneUpTo, seq - 1);
    const state = isTracked && storedAtMs <= knownUntilMs ? this.#states[at] : undefined;
    let answer: Received = 'new';
    if (state === inFlight || state === finished) answer = 'in-flight';
    else if (state === acknowledged || seq <= this.#doneUpTo) answer = 'acknowledged';
    else this.#set(seq, inFlight, storedAtMs);
    // The storage time of a message that another reader finished was not known until now.
    if (state === acknowledged) this.#storedMs[at] = storedAtMs;
    this.#advance();
    return answer;
  }

  /** All of its events are done; the ack follows. */
  finish(seq: number, storedAtMs: number): void {
    this.#move(seq, storedAtMs, finished);
  }

  /** Marks it as done. True if the server needs an acknowledgement: another message may have its sequence by now. */
  acknowledge(seq: number, storedAtMs: number): boolean {
    const isSame = this.#move(seq, storedAtMs, acknowledged);
    this.#advance();
    return isSame;
  }

  /** Nothing of it is done: it is wanted again. */
  release(seq: number, storedAtMs: number): void {
    this.#move(seq, storedAtMs, released);
  }

  #move(seq: number, storedAtMs: number, state: State): boolean {
    const at = this.#find(seq);
    if (this.#seqs[at] === seq) {
      if (storedAtMs !== this.#storedMs[at]) return false;
      this.#states[at] = state;
    }
    if (state >= finished) this.#storedUntilMs = Math.max(this.#storedUntilMs, storedAtMs);
    return true;
  }

  #set(seq: number, state: State, storedMs: number): void {
    const at = this.#find(seq);
    const isThere = this.#seqs[at] === seq ? 1 : 0;
    this.#seqs.splice(at, isThere, seq);
    this.#states.splice(at, isThere, state);
    this.#storedMs.splice(at, isThere, storedMs);
  }

  #advance(): void {
    let done = 0;
    for (; done < this.#seqs.length; done += 1) {
      const seq = this.#seqs[done] ?? 0;
      if (seq > this.#doneUpTo) {
        if (this.#states[done] !== acknowledged || seq > this.#receivedUpTo) break;
        this.#doneUpTo = seq;
      } else if (this.#states[done] === inFlight || this.#states[done] === finished) {
        // Acknowledged by another reader, and still in flight here.
        break;
      }
    }
    if (done === 0) return;
    this.#seqs.splice(0, done);
    this.#states.splice(0, done);
    this.#storedMs.splice(0, done);
  }

  /** Where a sequence is, or would be: nearly always at the end. */
  #find(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    if (high === 0 || seq > (this.#seqs[high - 1] ?? 0)) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#seqs[middle] ?? 0) < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
