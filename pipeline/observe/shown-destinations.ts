import type { StatsLedger } from '../supervisor/stats-ledger.ts';
import { DestinationLabels, otherDestinations } from './destination-labels.ts';

export type PublishedDestination = { readonly id: string; readonly type: string };

/** The destinations of the page: what is gone is forgotten, so its series end. */
export type ShownDestinations = {
  readonly labels: DestinationLabels;
  /** Those that stand by themselves, with what kind they are of. */
  current(): readonly PublishedDestination[];
};

export type ShownDestinationsOptions = {
  readonly destinationsMax: number;
  readonly stats: Pick<StatsLedger, 'forget'>;
  readonly published: () => readonly PublishedDestination[];
};

export function showDestinations({ destinationsMax, stats, published }: ShownDestinationsOptions): ShownDestinations {
  const labels = new DestinationLabels(destinationsMax);
  let known = new Set<string>();
  return {
    labels,
    current() {
      const destinations = published();
      const now = new Set(destinations.map(({ id }) => id));
      for (const id of known) {
        if (now.has(id)) continue;
        const wasFolded = labels.forget(id);
        stats.forget(`dispatcher-${id}`, wasFolded ? `dispatcher-${otherDestinations}` : undefined);
      }
      known = now;
      return destinations.filter(({ id }) => labels.labelOf(id) === id);
    },
  };
}
