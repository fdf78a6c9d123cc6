import pLimit from 'p-limit';
import type { AccountPart, LeftPart, ResolvedPart, Turn } from './resolve-part.ts';
import type { WaitingEvent } from './waiting-events.ts';

/** Maximum number of concurrent statements for slow or failing accounts; other accounts use all other connections. */
const apartAtOnceMax = 2;

export type VisitorWritesOptions = {
  readonly writesAtOnceMax: number;
  /** Called with each batch whose visitors were written. */
  onResolved(resolved: ResolvedPart): void;
  onFailure(error: unknown): void;
};

/**
 * Writes visitors while later batches are resolved. No later batch has events of the accounts whose visitors are being
 * written, so the events of each account stay in order.
 */
export class VisitorWrites {
  readonly #options: VisitorWritesOptions;
  readonly #accounts = new Set<string>();
  readonly #parts = new Set<LeftPart>();
  readonly #together = new Set<Promise<void>>();
  /** Accounts for whose visitors the database failed. Their statements have a separate queue. */
  readonly #accountsApart = new Set<string>();
  readonly #apart = new Set<Promise<void>>();
  readonly #turnApart: Turn = pLimit(apartAtOnceMax);

  constructor(options: VisitorWritesOptions) {
    this.#options = options;
  }

  /** Accounts whose visitors are being written. */
  get accounts(): ReadonlySet<string> {
    return this.#accounts;
  }

  get accountsApart(): ReadonlySet<string> {
    return this.#accountsApart;
  }

  /** Events whose visitors are being written. */
  get events(): readonly WaitingEvent[] {
    return [...this.#parts].flatMap(({ events }) => events);
  }

  get underWay(): readonly Promise<void>[] {
    return [...this.#together, ...this.#apart];
  }

  /** Starts to write the visitors of a batch; resolves when another batch may follow. */
  async write(left: LeftPart): Promise<void> {
    for (const accountId of left.accounts) this.#accounts.add(accountId);
    this.#track(this.#together, () => this.#writeTogether(left));
    while (this.#together.size >= this.#options.writesAtOnceMax) await Promise.race(this.#together);
  }

  /** Writes one account's visitors; other accounts neither wait for this nor share its transactions. */
  writeApart(part: AccountPart): void {
    this.#accounts.add(part.accountId);
    this.#track(this.#apart, async () => {
      this.#parts.add(part);
      const { resolved, isWell } = await part.resolveApart(this.#turnApart);
      this.#parts.delete(part);
      if (isWell) this.#accountsApart.delete(part.accountId);
      else this.#accountsApart.add(part.accountId);
      this.#written(part, resolved);
    });
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    while (this.#together.size + this.#apart.size > 0) await Promise.all(this.underWay);
  }

  async #writeTogether(left: LeftPart): Promise<void> {
    this.#parts.add(left);
    const resolved = await left.resolve();
    this.#parts.delete(left);
    if (resolved !== undefined) return this.#written(left, resolved);
    const parts = left.byAccount();
    // Each account is written by itself, all at the same time, which shows for which account the database fails.
    for (const part of parts) {
      if (parts.length === 1) {
        this.#accountsApart.add(part.accountId);
        this.writeApart(part);
      } else this.#track(this.#together, () => this.#writeTogether(part));
    }
  }

  #written({ accounts }: LeftPart, resolved: ResolvedPart): void {
    this.#options.onResolved(resolved);
    for (const accountId of accounts) this.#accounts.delete(accountId);
  }

  #track(writes: Set<Promise<void>>, write: () => Promise<void>): void {
    const writing: Promise<void> = write().then(() => void writes.delete(writing));
    writing.catch(this.#options.onFailure);
    writes.add(writing);
  }
}
