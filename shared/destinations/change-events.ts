import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/** Makes a destination receive its events as `change` rewrites them, in all of its functions. */
export function changeEvents<Prepared extends PreparedDestination>(
  prepared: Prepared,
  change: (event: OutboundEvent) => OutboundEvent,
): Prepared {
  const { accepts, groupOf, readAnswer } = prepared;
  return {
    ...prepared,
    ...(accepts && { accepts: (event: OutboundEvent) => accepts(change(event)) }),
    ...(groupOf && { groupOf: (event: OutboundEvent) => groupOf(change(event)) }),
    buildRequest: (events: readonly OutboundEvent[], nowMs: number) => prepared.buildRequest(events.map(change), nowMs),
    ...(readAnswer && {
      readAnswer: (...[answer, events]: Parameters<typeof readAnswer>) => readAnswer(answer, events.map(change)),
    }),
  };
}
