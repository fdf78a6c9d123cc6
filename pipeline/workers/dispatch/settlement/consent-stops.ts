import type { ConsentLayer } from '../../../../shared/routing/consent/purpose-answer.ts';

/** Counters with a series for each purpose, and for each layer of consent. */
export const dispatcherNamedCounters = {
  consent_stops: {
    help: 'Events stopped because their visitor does not allow a purpose that the destination serves, by the first such purpose',
    label: 'purpose',
  },
  consent_layers: {
    help: "Events stopped because their visitor does not allow a purpose, by the first that refused: the event, the visitor, a withdrawal, a signal, or the purpose's default",
    label: 'layer',
  },
} as const;

/** Maximum number of purposes of a destination that are counted separately; all others share one count. */
const purposesMax = 20;
const otherPurposes = '_other';

/** Counts an event that a purpose stopped. */
export function countConsentStop(
  counts: { consent_stopped: number },
  purpose: string,
  layer: ConsentLayer | undefined,
): void {
  counts.consent_stopped += 1;
  const named = counts as unknown as Record<string, number>;
  if (layer !== undefined) named[`consent_layers:${layer}`] = (named[`consent_layers:${layer}`] ?? 0) + 1;
  const nameOf = (one: string): string => `consent_stops:${one}`;
  let name = nameOf(purpose);
  if (named[name] === undefined) {
    const known = Object.keys(named).filter((one) => one.startsWith(nameOf(''))).length;
    if (known >= purposesMax) name = nameOf(otherPurposes);
  }
  named[name] = (named[name] ?? 0) + 1;
}
