/** Maximum number of accounts, sources or rules that have their own series; all others share one. */
const accountsMax = 100;
const others = '_other';

/** A counter for each account: reported as `<name>:<account id>`. */
export class AccountCounts {
  readonly #name: string;
  readonly #counts = new Map<string, number>();

  constructor(name: string) {
    this.#name = name;
  }

  add(accountId: string, count: number): void {
    const key = this.#counts.has(accountId) || this.#counts.size < accountsMax ? accountId : others;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  stats(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#counts].map(([accountId, count]) => [`${this.#name}:${accountId}`, count]));
  }
}
