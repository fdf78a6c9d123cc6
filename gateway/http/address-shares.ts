/** What is used by addresses: each its part, and all together no more than there is. */
export class AddressShares {
  readonly max: number;
  readonly #ofAddressMax: number;
  readonly #used = new Map<string, number>();
  #total = 0;
  #refused = 0;

  /** `ofAddressMax`: what one address may use of `max`. */
  constructor(max: number, ofAddressMax: number) {
    this.max = max;
    this.#ofAddressMax = ofAddressMax;
  }

  /** In use, by all addresses. */
  get total(): number {
    return this.#total;
  }

  /** How often there was none left, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes so much for an address, or says that there is none left: of its part, or of all. */
  take(address: string, amount: number): boolean {
    const used = (this.#used.get(address) ?? 0) + amount;
    if (used > this.#ofAddressMax || this.#total + amount > this.max) {
      this.#refused += 1;
      return false;
    }
    this.#used.set(address, used);
    this.#total += amount;
    return true;
  }

  /** Gives back what was taken. */
  release(address: string, amount: number): void {
    const used = (this.#used.get(address) ?? 0) - amount;
    if (used > 0) this.#used.set(address, used);
    else this.#used.delete(address);
    this.#total -= amount;
  }
}
