/**
 * At most this many readers of one subject pull at a time. If a subject has no more readers than this, each of them
 * pulls freely.
 */
export const askingMax = 16;
/** A resting reader pulls again after this time, in ms, even if no other reader received a message. */
export const restMaxMs = 10_000;

/**
 * How a reader may pull. `free`: without restriction. `next`: one message, if the server has one now. `watch`: one
 * message, and the request waits until it arrives.
 */
export type Asking = 'free' | 'next' | 'watch';

/** One reader's turn among the readers of its subject. */
export type PullTurn = {
  /** How the reader may pull; undefined if it has to wait until its `pull` is called. */
  begin(): Asking | undefined;
  /** A message arrived, with this sequence in the stream. */
  received(seq: number): void;
  /** The request ended, because all its messages arrived (`hasCome`) or because the server has no more. */
  end(hasCome: boolean): void;
  /** The request is void. */
  reset(): void;
  leave(): void;
};

/** For a reader that takes no turns. */
export const noTurns: PullTurn = {
  begin: () => 'free',
  received: () => undefined,
  end: () => undefined,
  reset: () => undefined,
  leave: () => undefined,
};

type State = 'idle' | 'free' | 'queued' | 'granted' | 'asking' | 'caught-up' | 'watching' | 'resting';

type Member = { state: State; restingSinceMs: number; readonly pull: () => void };

/**
 * The turns of the readers of one subject over one connection. If a thousand readers waited at the server, one message
 * would be sent a thousand times at once. That is more than the server buffers for a connection: it would close the
 * connection and interrupt all its readers. So only a few readers pull at a time. When readers have received
 * everything, one of them waits at the server and the others rest until a message arrives.
 */
export class PullTurns {
  readonly #now: () => number;
  readonly #members = new Set<Member>();
  readonly #queue = new Set<Member>();
  #asking = 0;
  #watcher: Member | undefined;
  #newestSeq = 0;

  /** `now` is a monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#members.size;
  }

  /** `pull` is called when the reader may pull, and calls `begin` if the reader still wants to. */
  join(pull: () => void): PullTurn {
    const member: Member = { state: 'idle', restingSinceMs: 0, pull };
    this.#members.add(member);
    return {
      begin: () => this.#begin(member),
      received: (seq) => {
        if (seq <= this.#newestSeq) return;
        this.#newestSeq = seq;
        this.#wakeAll();
      },
      end: (hasCome) => this.#release(member, hasCome ? 'idle' : 'caught-up'),
      reset: () => this.#release(member, 'idle'),
      leave: () => {
        if (!this.#members.delete(member)) return;
        this.#release(member, 'idle');
        if (this.#members.size <= askingMax) this.#wakeAll();
      },
    };
  }

  #begin(member: Member): Asking | undefined {
    if (member.state === 'granted') {
      member.state = 'asking';
      return 'next';
    }
    if (member.state === 'queued') return undefined;
    if (this.#members.size <= askingMax) {
      member.state = 'free';
      return 'free';
    }
    if (member.state === 'caught-up' || member.state === 'resting') {
      if (this.#watcher === undefined) {
        this.#watcher = member;
        member.state = 'watching';
        return 'watch';
      }
      if (member.state === 'caught-up') {
        member.state = 'resting';
        member.restingSinceMs = this.#now();
      }
      if (this.#now() - member.restingSinceMs < restMaxMs) return undefined;
    }
    if (this.#asking >= askingMax) {
      member.state = 'queued';
      this.#queue.add(member);
      return undefined;
    }
    this.#asking += 1;
    member.state = 'asking';
    return 'next';
  }

  #release(member: Member, next: 'idle' | 'caught-up'): void {
    const { state } = member;
    // A free pull does not affect turns.
    member.state = state === 'free' ? 'idle' : next;
    this.#queue.delete(member);
    if (state === 'asking' || state === 'granted') {
      this.#asking -= 1;
      this.#grant();
    } else if (state === 'watching') {
      this.#watcher = undefined;
      if (next === 'idle') this.#wakeOne();
    }
  }

  #grant(): void {
    for (const member of this.#queue) {
      if (this.#asking >= askingMax) return;
      this.#queue.delete(member);
      this.#asking += 1;
      member.state = 'granted';
      member.pull();
      if (!this.#isGranted(member)) continue;
      // The reader has no room or is paused: it calls `begin` once that has changed.
      member.state = 'idle';
      this.#asking -= 1;
    }
  }

  #isGranted({ state }: Member): boolean {
    return state === 'granted';
  }

  #wakeAll(): void {
    for (const member of this.#members) {
      if (member.state !== 'resting' && member.state !== 'caught-up') continue;
      member.state = 'idle';
      member.pull();
    }
  }

  /** Wakes resting readers until one waits at the server. */
  #wakeOne(): void {
    for (const member of this.#members) {
      if (this.#watcher !== undefined) return;
      if (member.state === 'resting') member.pull();
    }
  }
}
