/** Readers of one subject that ask at a time; where there are no more, each asks as it likes. */
export const askingMax = 16;
/** One that rests asks again after so long, whatever the others received. */
export const restMaxMs = 10_000;

/**
 * How a reader may ask now: `free` as it likes; `next` for one message, if there is one; `watch` for one message, however
 * long it takes to come.
 */
export type Asking = 'free' | 'next' | 'watch';

/** What one reader has to do with the others of its subject. */
export type PullTurn = {
  /** How it may ask; undefined: not now, its `pull` is called when it may. */
  begin(): Asking | undefined;
  /** A message came, at this sequence of the stream. */
  received(seq: number): void;
  /** All that it asked for came, or, where `hasCome` is false, the server has no more for it. */
  end(hasCome: boolean): void;
  /** What it asked for is void. */
  reset(): void;
  leave(): void;
};

/** The turn of a reader that takes none: it asks as it likes. */
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
 * The turns of the readers of one subject over one connection. Were a thousand of them to wait at the server, one message
 * would be sent a thousand times at once: more than the server buffers for a connection. It would close the connection, and all
 * its other readers would wait. So a few ask at a time, one after the other; of those that have all, one waits at the server for what
 * comes and the others rest until it came.
 */
export class PullTurns {
  readonly #now: () => number;
  readonly #members = new Set<Member>();
  readonly #queue = new Set<Member>();
  #asking = 0;
  #watcher: Member | undefined;
  #newestSeq = 0;

  /** `now` is in ms, and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#members.size;
  }

  /** `pull` is called when the reader may ask; it calls `begin` if it still wants to. */
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
    // What is asked for freely says nothing about turns.
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
      // It has no room, or is paused: it begins when that has changed.
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

  /** One reader has to wait at the server. */
  #wakeOne(): void {
    for (const member of this.#members) {
      if (this.#watcher !== undefined) return;
      if (member.state === 'resting') member.pull();
    }
  }
}
