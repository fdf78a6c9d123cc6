import type { LimitData } from '../routing/allowed-data.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/**
 * Has a destination see no more of an event's properties than may leave: in its default payload, in what a mapping made of
 * it and in templates of its settings alike.
 */
export function withLimitedData<Prepared extends PreparedDestination>(prepared: Prepared, limit: LimitData): Prepared {
  const { accepts, groupOf, readAnswer } = prepared;
  const limited = (event: OutboundEvent): OutboundEvent => limitEvent(event, limit);
  return {
    ...prepared,
    ...(accepts && { accepts: (event: OutboundEvent) => accepts(limited(event)) }),
    ...(groupOf && { groupOf: (event: OutboundEvent) => groupOf(limited(event)) }),
    buildRequest: (events: readonly OutboundEvent[], nowMs: number) =>
      prepared.buildRequest(events.map(limited), nowMs),
    ...(readAnswer && {
      readAnswer: (...[answer, events]: Parameters<typeof readAnswer>) => readAnswer(answer, events.map(limited)),
    }),
  };
}

function limitEvent({ resolved, head, mapped, work }: OutboundEvent, limit: LimitData): OutboundEvent {
  const { event } = resolved;
  const own = { ...event, event_properties: limit(event.event, event.event_properties) };
  return {
    resolved: { ...resolved, event: own },
    ...(head && { head }),
    // What it is called there does not change which event it is.
    // Without `remake`, which would make the properties again without the limit.
    mapped: mapped && { eventName: mapped.eventName, properties: limit(event.event, mapped.properties) },
    work,
  };
}
