import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import type { ErasureNotice } from '../../contracts/erasure-notice.ts';

/** The visitor of an event, and when the event was received, in ms since the epoch. */
export type ReceivedEvent = { readonly visitorId: string; readonly receivedAtMs: number };

type AccountErasures = {
  /** Time of the account's last finished erasure, in ms since the epoch. */
  newestAtMs: number;
  /** Times of unfinished erasures, by the id of the erasure. */
  readonly ahead: Map<string, number>;
  readonly visitors: Map<string, Pick<ErasureNotice, 'id' | 'atMs'>>;
};

/**
 * The announced erasures, by visitor. An event received after its account's last erasure costs one comparison; for an
 * earlier event the visitor is hashed.
 */
export class KnownErasures {
  readonly #key: Buffer;
  readonly #accounts = new Map<string, AccountErasures>();

  constructor(key: Buffer) {
    this.#key = key;
  }

  take(accountId: string, { id, atMs, isAhead = false, visitors }: ErasureNotice): void {
    const account = this.#accountOf(accountId);
    if (isAhead) account.ahead.set(id, atMs);
    else {
      account.ahead.delete(id);
      account.newestAtMs = Math.max(account.newestAtMs, atMs);
    }
    for (const hash of visitors) {
      const known = account.visitors.get(hash);
      if (known === undefined || known.id === id || known.atMs < atMs) account.visitors.set(hash, { id, atMs });
    }
  }

  /** Whether an event's visitor was erased after the event was received. */
  isErased(accountId: string, { visitorId, receivedAtMs }: ReceivedEvent): boolean {
    const account = this.#accounts.get(accountId);
    if (account === undefined || !mayBeErased(account, receivedAtMs)) return false;
    const erasure = account.visitors.get(hashedVisitor(this.#key, accountId, visitorId));
    return erasure !== undefined && receivedAtMs <= erasure.atMs;
  }

  /** Forgets visitors that were erased before a moment, in ms since the epoch. */
  forget(beforeMs: number): void {
    for (const [accountId, { ahead, visitors }] of this.#accounts) {
      for (const [id, atMs] of ahead) if (atMs < beforeMs) ahead.delete(id);
      for (const [hash, { atMs }] of visitors) if (atMs < beforeMs) visitors.delete(hash);
      if (visitors.size === 0) this.#accounts.delete(accountId);
    }
  }

  #accountOf(accountId: string): AccountErasures {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = { newestAtMs: -Infinity, ahead: new Map(), visitors: new Map() };
      this.#accounts.set(accountId, account);
    }
    return account;
  }
}

function mayBeErased({ newestAtMs, ahead }: AccountErasures, receivedAtMs: number): boolean {
  if (receivedAtMs <= newestAtMs) return true;
  for (const atMs of ahead.values()) if (receivedAtMs <= atMs) return true;
  return false;
}
