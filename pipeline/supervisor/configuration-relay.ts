import type { ThreadSlot } from './thread-slot.ts';

type Slot = Pick<ThreadSlot, 'thread' | 'tell'>;

type Document = { readonly revision: number; readonly document: Uint8Array | undefined };

type Pending = { readonly threads: Set<number>; resolve(): void };

/** Sends every account's configuration to every thread and tracks which threads have it. */
export class ConfigurationRelay {
  readonly #slots: readonly Slot[];
  /** Newest configuration of each account: a restarted thread gets all of them. */
  readonly #documents = new Map<string, Document>();
  readonly #pending = new Map<string, Pending>();

  constructor(slots: readonly Slot[]) {
    this.#slots = slots;
  }

  /** Sends a configuration to all live threads; settles when each of them has it or is gone. */
  send(accountId: string, revision: number, document: Uint8Array | undefined): Promise<void> {
    this.#documents.set(accountId, { revision, document });
    const threads = new Set<number>();
    for (const slot of this.#slots) {
      if (slot.tell({ kind: 'configure', accountId, revision, document })) threads.add(slot.thread);
    }
    if (threads.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#pending.set(keyOf(accountId, revision), { threads, resolve });
    });
  }

  /** Sends all configurations to a thread that has started. */
  sendAll(slot: Slot): void {
    for (const [accountId, { revision, document }] of this.#documents) {
      slot.tell({ kind: 'configure', accountId, revision, document });
    }
  }

  confirmed(thread: number, accountId: string, revision: number): void {
    const key = keyOf(accountId, revision);
    const pending = this.#pending.get(key);
    if (pending?.threads.delete(thread) === true) this.#settle(key, pending);
  }

  threadDied(thread: number): void {
    for (const [key, pending] of this.#pending) {
      if (pending.threads.delete(thread)) this.#settle(key, pending);
    }
  }

  #settle(key: string, { threads, resolve }: Pending): void {
    if (threads.size > 0) return;
    this.#pending.delete(key);
    resolve();
  }
}

function keyOf(accountId: string, revision: number): string {
  return `${accountId}@${revision}`;
}
