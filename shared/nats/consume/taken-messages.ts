/** How a reader treats a message that arrives. */
export type Received =
  /** It arrived for the first time, or was released. */
  | 'new'
  /** The reader is working on it, or is about to send its ack: the copy is ignored. */
  | 'in-flight'
  /** It was acknowledged, but the server has no record of that: it is acknowledged again. */
  | 'acknowledged';

/** The messages that a reader has finished, for the next reader. */
export type FinishedMessages = {
  /** Every message up to this sequence is finished. */
  readonly upTo: number;
  /** Sequences of finished messages above `upTo`, ascending. */
  readonly above: readonly number[];
  /**
   * When the newest of these messages was stored, in ms since the epoch. A message stored later with one of these
   * sequences is another message.
   */
  readonly storedUntilMs: number;
};

const released = 0;
const inFlight = 1;
const finished = 2;
const acknowledged = 3;
type State = typeof released | typeof inFlight | typeof finished | typeof acknowledged;

/**
 * The messages that one reader received, by their sequence in the stream. A reset consumer delivers everything after
 * its acknowledged floor again, and a killed server may have lost the last acknowledgements; so the reader itself
 * records which messages are in flight or done. Every message up to one sequence is done; above it each message has its
 * own state.
 */
export class TakenMessages {
  /**
   * Ascending; `#states` and `#storedMs` have the same indexes. The garbage collector does not traverse arrays of
   * numbers.
   */
  readonly #seqs: number[] = [];
  readonly #states: State[] = [];
  /**
   * When each message was stored, or the latest time possible. A message with the same sequence and a later time is
   * another message.
   */
  readonly #storedMs: number[] = [];
  #doneUpTo: number;
  /**
   * Since the last reset the server has delivered everything up to this sequence, so every message up to here is known.
   */
  #receivedUpTo: number;
  #storedUntilMs: number;

  /** Everything up to `ackedSeq` that was stored by `ackedAtMs`, in ms since the epoch, is acknowledged. */
  constructor(ackedSeq: number, ackedAtMs: number) {
    this.#doneUpTo = ackedSeq;
    this.#receivedUpTo = ackedSeq;
    this.#storedUntilMs = ackedAtMs;
  }

  /** Number of recorded messages, from the oldest one that is not done to the newest. */
  get size(): number {
    return this.#seqs.length;
  }

  get finished(): FinishedMessages {
    const above = this.#seqs.filter((_, at) => (this.#states[at] ?? released) >= finished);
    return { upTo: this.#doneUpTo, above, storedUntilMs: this.#storedUntilMs };
  }

  /**
   * Takes over what another reader has finished. If the server delivers one of these messages again, it is
   * acknowledged.
   */
  restore({ upTo, above, storedUntilMs }: FinishedMessages): void {
    // The messages up to `upTo` are known only to have been stored by `storedUntilMs`. A record without further
    // messages does not change the time: a server's record always has the present time.
    if (upTo > this.#doneUpTo) {
      this.#doneUpTo = upTo;
      this.#storedUntilMs = storedUntilMs;
    }
    for (const seq of above) {
      if (seq <= this.#doneUpTo) continue;
      this.#set(seq, acknowledged, storedUntilMs);
      this.#storedUntilMs = Math.max(this.#storedUntilMs, storedUntilMs);
    }
    this.#advance();
  }

  /**
   * Finishes every message up to `upTo` that was stored by `storedUntilMs`, except messages in flight. Returns how many
   * of them were in flight or finished already.
   */
  skipTo(upTo: number, storedUntilMs: number): number {
    const known = this.#seqs.filter(
      (seq, at) => seq > this.#doneUpTo && seq <= upTo && this.#states[at] !== released,
    ).length;
    this.restore({ upTo, above: [], storedUntilMs });
    return known;
  }

  /** The server delivers everything after `ackedSeq` again. */
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
    // The stream lost its end and uses its sequences again: the messages recorded as done from here on were other
    // messages.
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

  /** All events of the message are done; its ack follows. */
  finish(seq: number, storedAtMs: number): void {
    this.#move(seq, storedAtMs, finished);
  }

  /**
   * Marks the message as done. False if another message has its sequence by now, because an ack would count for that
   * other message.
   */
  acknowledge(seq: number, storedAtMs: number): boolean {
    const isSame = this.#move(seq, storedAtMs, acknowledged);
    this.#advance();
    return isSame;
  }

  /** The message is not done: it must be delivered again. */
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

  /** The index of a sequence, or where it would be inserted: nearly always the end. */
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
