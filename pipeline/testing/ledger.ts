import type { ScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { idsOf } from '../../shared/testing/scripted-destination.ts';

/** Generates events of numbered visitors. Their ids are `<visitor>-<n>`; n counts up from 0 for each visitor. */
export type Ledger = {
  /** The next `count` events; the visitors take turns. */
  next(count: number): { readonly id: string; readonly visitor: string }[];
  /** Compares the requests that the sink received on this path with the events of the ledger. */
  compare(sink: ScriptedDestination, path?: string): Comparison;
};

export type Comparison = {
  readonly missing: number;
  /** Number of repeated requests: all requests for an event but the first. */
  readonly repeated: number;
  /** Events whose first request came after the first request of a later event of the same visitor. */
  readonly outOfOrder: readonly string[];
};

export function createLedger(visitors: number): Ledger {
  let made = 0;
  const idOf = (at: number): string => `v${at % visitors}-${Math.floor(at / visitors)}`;
  return {
    next: (count) =>
      Array.from({ length: count }, () => {
        const id = idOf(made);
        made += 1;
        return { id, visitor: visitorOf(id) };
      }),
    compare(sink, path) {
      const seen = new Set<string>();
      const newest = new Map<string, number>();
      const outOfOrder: string[] = [];
      let repeated = 0;
      // The sink records requests on arrival, so this is the order of the attempts.
      const asked = sink.requests.filter((request) => path === undefined || request.path === path);
      for (const id of asked.flatMap(({ body }) => idsOf(body))) {
        if (seen.has(id)) {
          repeated += 1;
          continue;
        }
        seen.add(id);
        const n = Number(id.split('-')[1]);
        if (n < (newest.get(visitorOf(id)) ?? -1)) outOfOrder.push(id);
        newest.set(visitorOf(id), Math.max(n, newest.get(visitorOf(id)) ?? -1));
      }
      return { missing: made - seen.size, repeated, outOfOrder };
    },
  };
}

const visitorOf = (id: string): string => id.slice(0, id.indexOf('-'));
