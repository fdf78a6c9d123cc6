import { plainFigure } from '../result/figure.ts';
import type { Figure } from '../result/result.ts';
import type { GcUse } from './gc-messages.ts';
import { addGcUse, noGcUse } from './gc-messages.ts';
import type { Service } from './services.ts';

/** Heap use of services during another measurement, with its events and duration. */
export type GcWatch = { readonly events: number; readonly seconds: number; readonly use: GcUse };

/** Begins now. `end` returns the use of all services since then, for `events`; undefined if there is no service. */
export function watchGc(services: readonly Service[]): { end(events: number): Promise<GcWatch | undefined> } {
  const startedMs = performance.now();
  for (const { gc } of services) gc.begin();
  return {
    async end(events) {
      if (services.length === 0) return undefined;
      const seconds = (performance.now() - startedMs) / 1_000;
      const uses = await Promise.all(services.map(({ gc }) => gc.end()));
      return { events, seconds, use: uses.reduce(addGcUse, noGcUse) };
    },
  };
}

/**
 * Allocated bytes per event, and the pauses of all threads as a fraction of the time. A change in these figures shows a
 * cause before the rate changes. Empty if no round has a watch.
 */
export function gcFigures(rounds: readonly (GcWatch | undefined)[]): Record<string, Figure> {
  const watches = rounds.filter((watch) => watch !== undefined);
  if (watches.length === 0) return {};
  return {
    'allocated an event': plainFigure(
      'bytes',
      'less',
      watches.map(({ use, events }) => use.allocatedBytes / events),
    ),
    GC: plainFigure(
      'ratio',
      'less',
      watches.map(({ use, seconds }) => use.pauseMs / 1_000 / seconds),
    ),
  };
}
