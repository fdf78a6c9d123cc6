import type { OutboundAnswer, OutboundEvent, Outcome } from '../sdk/destination.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { groupIn, propertiesOf } from '../sdk/event.ts';
import type { Group } from '../sdk/event.ts';
import { hubspotText, readInputErrors } from './payload.ts';
import type { CrmInput } from './payload.ts';

/** HubSpot's names of the default company properties, by the name of the trait in a group call. */
const standardNames: ReadonlyMap<string, string> = new Map([
  ['name', 'name'],
  ['domain', 'domain'],
  ['website', 'website'],
  ['phone', 'phone'],
  ['industry', 'industry'],
  ['description', 'description'],
  ['employees', 'numberofemployees'],
  ['city', 'city'],
  ['state', 'state'],
  ['zip', 'zip'],
  ['postalCode', 'zip'],
  ['country', 'country'],
]);

/**
 * One input per company; later events override earlier ones. Throws UnfitEventError if an event has no group.
 * https://developers.hubspot.com/docs/api-reference/latest/crm/objects/companies/batch/upsert-companies
 */
export function companyInputs(
  events: readonly OutboundEvent[],
  idProperty: string,
  companyProperties: readonly string[],
): readonly CrmInput[] {
  return placesByGroup(events).map(([id, places]) => {
    const given = places.flatMap((place) => Object.entries(propertiesIn(events[place], companyProperties)));
    return {
      places,
      input: {
        idProperty,
        id,
        objectWriteTraceId: String(places[0]),
        properties: { ...Object.fromEntries(given), [idProperty]: id },
      },
    };
  });
}

export function readCompanyAnswer(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
): readonly Outcome[] | undefined {
  return readInputErrors(answer, events.length, placesByGroup(events));
}

function placesByGroup(events: readonly OutboundEvent[]): readonly (readonly [string, readonly number[]])[] {
  const places = new Map<string, number[]>();
  events.forEach((event, place) => {
    const { id } = groupOf(event);
    const known = places.get(id);
    if (known === undefined) places.set(id, [place]);
    else known.push(place);
  });
  return [...places];
}

function groupOf(event: OutboundEvent): Group {
  const group = groupIn(propertiesOf(event), 'company');
  if (group === undefined) throw new UnfitEventError('the event has no group id');
  return group;
}

function propertiesIn(event: OutboundEvent | undefined, named: readonly string[]): Readonly<Record<string, string>> {
  if (event === undefined) return {};
  const entries = Object.entries(groupOf(event).traits).flatMap(([name, value]) => {
    const standard = standardNames.get(name);
    const text = hubspotText(value);
    const isKnown = standard !== undefined || named.includes(name);
    return isKnown && text !== undefined ? [[standard ?? name, text] as const] : [];
  });
  return Object.fromEntries(entries);
}
