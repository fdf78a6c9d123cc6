import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import type { WithdrawalNotice } from '../../contracts/withdrawal-notice.ts';

/** A visitor's last decision on one consent purpose, and its time, in ms since the epoch. */
export type LastWord = { readonly isDenial: boolean; readonly atMs: number };

/** A visitor's last decisions, by the lower-case name of the purpose. */
export type LastWords = { get(name: string): LastWord | undefined };

type AccountWithdrawals = {
  /** Visitors who denied a consent, by hash, in the order of their first denials. */
  readonly visitors: Map<string, Map<string, LastWord>>;
  /** Denials up to this time may have been forgotten, in ms since the epoch. */
  forgottenUntilMs: number;
};

/** Maximum number of visitors whose latest consents a thread keeps; each takes some 300 bytes. */
const visitorsMax = 200_000;

/** The withdrawn consents by visitor, from the announced notices. A visitor who denied nothing takes no memory. */
export class KnownWithdrawals {
  readonly #key: Buffer;
  readonly #visitorsMax: number;
  readonly #accounts = new Map<string, AccountWithdrawals>();
  #visitors = 0;
  /** Notices up to this time may have left the stream, in ms since the epoch. */
  #cutUntilMs = Number.NEGATIVE_INFINITY;

  constructor(key: Buffer, most = visitorsMax) {
    this.#key = key;
    this.#visitorsMax = most;
  }

  take(accountId: string, { changes }: WithdrawalNotice): void {
    for (const { visitors, words, atMs } of changes) {
      for (const hash of visitors) {
        for (const [name, word] of Object.entries(words)) this.#takeWord(accountId, hash, name, word, atMs);
      }
    }
    while (this.#visitors > this.#visitorsMax) this.#forgetOldest();
  }

  /**
   * The last consents of an event's visitor; undefined if the visitor denied nothing. If they may be forgotten, every
   * consent counts as denied.
   */
  lastWords(
    accountId: string,
    { visitorId, receivedAtMs }: { readonly visitorId: string; readonly receivedAtMs: number },
  ): LastWords | undefined {
    if (receivedAtMs <= this.#cutUntilMs) return allDenied;
    const account = this.#accounts.get(accountId);
    if (account === undefined) return undefined;
    if (receivedAtMs <= account.forgottenUntilMs) return allDenied;
    if (account.visitors.size === 0) return undefined;
    return account.visitors.get(hashedVisitor(this.#key, accountId, visitorId));
  }

  /** Notices up to this time, in ms since the epoch, may be missing, of one account or, without `accountId`, of all. */
  forgetUntil(atMs: number, accountId?: string): void {
    if (accountId === undefined) this.#cutUntilMs = Math.max(this.#cutUntilMs, atMs);
    else {
      const account = this.#accountOf(accountId);
      account.forgottenUntilMs = Math.max(account.forgottenUntilMs, atMs);
    }
  }

  #takeWord(accountId: string, hash: string, name: string, word: boolean, atMs: number): void {
    const known = this.#accounts.get(accountId)?.visitors.get(hash);
    const before = known?.get(name);
    // A grant ends a denial; if both have the same time, the denial holds.
    if (word && before === undefined) return;
    if (before !== undefined && (atMs < before.atMs || (atMs === before.atMs && word))) return;
    if (known !== undefined) known.set(name, { isDenial: !word, atMs });
    else {
      this.#accountOf(accountId).visitors.set(hash, new Map([[name, { isDenial: !word, atMs }]]));
      this.#visitors += 1;
    }
  }

  /** Removes the oldest visitor of the account with the most visitors. */
  #forgetOldest(): void {
    let most: AccountWithdrawals | undefined;
    for (const account of this.#accounts.values()) {
      if (account.visitors.size > (most?.visitors.size ?? 0)) most = account;
    }
    const [hash, words] = most?.visitors.entries().next().value ?? [];
    if (most === undefined || hash === undefined || words === undefined) return;
    most.visitors.delete(hash);
    this.#visitors -= 1;
    for (const { atMs } of words.values()) most.forgottenUntilMs = Math.max(most.forgottenUntilMs, atMs);
  }

  #accountOf(accountId: string): AccountWithdrawals {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = { visitors: new Map(), forgottenUntilMs: Number.NEGATIVE_INFINITY };
      this.#accounts.set(accountId, account);
    }
    return account;
  }
}

const allDenied: LastWords = { get: () => ({ isDenial: true, atMs: Number.POSITIVE_INFINITY }) };
