import type { StatsLedger } from '../supervisor/stats-ledger.ts';

export type PublishedDestination = { readonly id: string; readonly type: string; readonly name: string };

/** The destinations on the metrics page. A deleted destination is forgotten, so that its series end. */
export type ShownDestinations = {
  /** Destinations with a label of their own. Call it before `labelOf` on each page. */
  current(): readonly PublishedDestination[];
  /** The label of a destination; undefined for a deleted one. */
  labelOf(destinationId: string): string | undefined;
  /** Number of destinations that have ever lacked a label of their own. */
  readonly dropped: number;
};

export type ShownDestinationsOptions = {
  readonly destinationsMax: number;
  readonly stats: Pick<StatsLedger, 'forget'>;
  readonly published: () => readonly PublishedDestination[];
  /** A clock in ms whose origin does not matter. */
  readonly now?: () => number;
};

/** How long the dispatcher of a deleted destination may continue to report counts, in ms. */
const lingerMs = 60_000;

export function showDestinations(options: ShownDestinationsOptions): ShownDestinations {
  const { destinationsMax, stats, published, now = () => performance.now() } = options;
  const labels = new DestinationLabels(destinationsMax);
  const gone = new Map<string, { readonly wasFolded: boolean; readonly untilMs: number }>();
  let known = new Set<string>();
  return {
    current() {
      const destinations = published();
      const current = new Set(destinations.map(({ id }) => id));
      for (const id of known) {
        if (!current.has(id)) gone.set(id, { wasFolded: labels.forget(id), untilMs: now() + lingerMs });
      }
      for (const [id, { wasFolded, untilMs }] of gone) {
        if (!current.has(id)) stats.forget('dispatcher', id, wasFolded ? otherDestinations : undefined);
        if (current.has(id) || now() > untilMs) gone.delete(id);
      }
      known = current;
      return destinations.filter(({ id }) => labels.labelOf(id) === id);
    },
    labelOf: (destinationId) => (gone.has(destinationId) ? undefined : labels.labelOf(destinationId)),
    get dropped() {
      return labels.dropped;
    },
  };
}

/** The label of all destinations that have none of their own. */
const otherDestinations = '_other';

/**
 * Decides which destinations have a label of their own in metrics: the first ones, up to the limit. The others are
 * summed under one label, and stay there even when a label becomes free: a sum that loses a part would look like a
 * counter that restarted.
 */
export class DestinationLabels {
  readonly #destinationsMax: number;
  readonly #own = new Set<string>();
  readonly #folded = new Set<string>();
  #dropped = 0;

  constructor(destinationsMax: number) {
    this.#destinationsMax = destinationsMax;
  }

  /** Number of destinations that have ever lacked a label of their own. */
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

  /** Forgets a deleted destination; returns whether it was among those summed under one label. */
  forget(destinationId: string): boolean {
    this.#own.delete(destinationId);
    return this.#folded.delete(destinationId);
  }
}
