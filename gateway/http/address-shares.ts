/** Limits use by client addresses: a limit for each, and a total for all together. */
export class AddressShares {
  readonly max: number;
  readonly #ofAddressMax: number;
  readonly #used = new Map<string, number>();
  #total = 0;
  #refused = 0;

  /** `ofAddressMax`: the part of `max` that one address may use. */
  constructor(max: number, ofAddressMax: number) {
    this.max = max;
    this.#ofAddressMax = ofAddressMax;
  }

  /** In use, by all addresses. */
  get total(): number {
    return this.#total;
  }

  /** How often a request found the limit used up, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes units for an address, or reports which limit is used up: the address's or the total. */
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

  /** Releases taken units. */
  release(address: string, amount: number): void {
    const used = (this.#used.get(address) ?? 0) - amount;
    if (used > 0) this.#used.set(address, used);
    else this.#used.delete(address);
    this.#total -= amount;
  }
}
