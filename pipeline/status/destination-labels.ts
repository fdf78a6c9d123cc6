/** The label of all destinations that have none of their own. */
export const otherDestinations = '_other';

/**
 * Which destinations stand in metrics by themselves: as many as there may be, first come, first served. The rest is
 * summed up under one label, and stays there even when a place becomes free: a sum that loses a part would look like a
 * counter that began anew.
 */
export class DestinationLabels {
  readonly #destinationsMax: number;
  readonly #own = new Set<string>();
  readonly #folded = new Set<string>();
  #dropped = 0;

  constructor(destinationsMax: number) {
    this.#destinationsMax = destinationsMax;
  }

  /** Destinations that were ever left without a label of their own. */
  get dropped(): number {
    return this.#dropped;
  }

  labelOf(destinationId: string): string {
    if (this.#own.has(destinationId)) return destinationId;
    if (destinationId === otherDestinations || this.#folded.has(destinationId)) return otherDestinations;
    if (this.#own.size < this.#destinationsMax) {
      this.#own.add(destinationId);
      return destinationId;
    }
    this.#folded.add(destinationId);
    this.#dropped += 1;
    return otherDestinations;
  }

  /** The destination is gone. Says whether it was one of those summed up. */
  forget(destinationId: string): boolean {
    this.#own.delete(destinationId);
    return this.#folded.delete(destinationId);
  }
}
