import type { IdentityCount, IdentityReason } from '../../../shared/visitors/identity-counts.ts';
import { AccountCounts } from './account-counts.ts';

/** Maximum number of pairs of source and reason counted between two writes; others are only counted as skipped. */
const rowsMax = 5_000;
const sourceCharactersMax = 64;
const hourMs = 3_600_000;

export type LeftOutOfEvent = {
  readonly accountId: string;
  readonly sourceId: string;
  readonly receivedAtMs: number;
  readonly reason: IdentityReason;
  readonly count: number;
};

/**
 * Counts identifiers and properties that were not given to their visitors, by source and reason; a crash loses the
 * counts of the last seconds.
 */
export class IdentityFigures {
  readonly #byAccount = new AccountCounts('identity_left_out');
  readonly #bySource = new AccountCounts('source_identity_left_out');
  #skipped = 0;
  #rows = new Map<string, IdentityCount>();

  stats(): Readonly<Record<string, number>> {
    return { ...this.#byAccount.stats(), ...this.#bySource.stats() };
  }

  /** Number of counts that were skipped because there were too many pairs. */
  get skipped(): number {
    return this.#skipped;
  }

  add({ accountId, sourceId, receivedAtMs, reason, count }: LeftOutOfEvent): void {
    if (count === 0) return;
    const source = sourceId.slice(0, sourceCharactersMax);
    this.#byAccount.add(accountId, count);
    this.#bySource.add(source, count);
    const hourAtMs = Math.floor(receivedAtMs / hourMs) * hourMs;
    const key = `${accountId}\n${hourAtMs}\n${reason}\n${source}`;
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= rowsMax) {
      this.#skipped += count;
      return;
    }
    const lastAtMs = Math.max(receivedAtMs, known?.lastAtMs ?? 0);
    const total = count + (known?.count ?? 0);
    this.#rows.set(key, { accountId, hourAtMs, sourceId: source, reason, count: total, lastAtMs });
  }

  /** Returns all counts since the last call, and resets them. */
  take(): readonly IdentityCount[] {
    const taken = [...this.#rows.values()];
    this.#rows = new Map();
    return taken;
  }

  /** Adds counts that could not be written, so that the next write includes them. */
  keep(rows: readonly IdentityCount[]): void {
    for (const row of rows) {
      const key = `${row.accountId}\n${row.hourAtMs}\n${row.reason}\n${row.sourceId}`;
      const known = this.#rows.get(key);
      if (known === undefined && this.#rows.size >= rowsMax) {
        this.#skipped += row.count;
        continue;
      }
      const lastAtMs = Math.max(row.lastAtMs, known?.lastAtMs ?? 0);
      this.#rows.set(key, { ...row, count: row.count + (known?.count ?? 0), lastAtMs });
    }
  }
}
