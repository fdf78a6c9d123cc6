/** A visitor was shown a variant. */
export type Exposure = {
  readonly experimentId: string;
  readonly visitorId: string;
  readonly variantId: string;
  readonly atMs: number;
  /** When the event was received, in ms since the epoch. */
  readonly receivedAtMs: number;
};

/** A visitor sent an event that counts as a conversion of an experiment. */
export type Conversion = {
  readonly experimentId: string;
  readonly visitorId: string;
  /** Name of the event. */
  readonly metric: string;
  readonly atMs: number;
  /** When the event was received, in ms since the epoch. */
  readonly receivedAtMs: number;
};

/** For each experiment and visitor, the first exposure and the last conversion. */
export class ResultsBatch {
  readonly #exposures = new Map<string, Exposure>();
  readonly #conversions = new Map<string, Conversion>();

  get exposures(): readonly Exposure[] {
    return [...this.#exposures.values()];
  }

  get conversions(): readonly Conversion[] {
    return [...this.#conversions.values()];
  }

  addExposure(exposure: Exposure): void {
    const key = keyOf(exposure);
    const known = this.#exposures.get(key);
    if (known === undefined || isEarlier(exposure, known)) this.#exposures.set(key, exposure);
  }

  addConversion(conversion: Conversion): void {
    const key = keyOf(conversion);
    const known = this.#conversions.get(key);
    if (known === undefined || conversion.atMs > known.atMs) this.#conversions.set(key, conversion);
  }
}

const keyOf = ({ experimentId, visitorId }: { readonly experimentId: string; readonly visitorId: string }): string =>
  `${experimentId}\n${visitorId}`;

// Exposures of the same time are ordered by variant id, as in the database, so that the order of arrival is irrelevant.
const isEarlier = (a: Exposure, b: Exposure): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.variantId < b.variantId);
