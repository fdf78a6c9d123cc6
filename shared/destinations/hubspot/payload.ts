import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { browserId } from '../sdk/browser-context.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent, Outcome } from '../sdk/destination.ts';
import { eventUuid } from '../sdk/event-ids.ts';
import { mappedProperties, propertiesOf, sentEvent, traitsOf } from '../sdk/event.ts';
import { contactIds } from '../sdk/person.ts';
import { nameIn } from '../sdk/person-name.ts';
import { present } from '../sdk/json.ts';

/** HubSpot's names of the default contact properties, by trait: https://knowledge.hubspot.com/properties. */
const standardNames: ReadonlyMap<string, string> = new Map([
  ['first_name', 'firstname'],
  ['last_name', 'lastname'],
  ['phone_number', 'phone'],
  ['company_name', 'company'],
  ['job_title', 'jobtitle'],
  ['city', 'city'],
  ['state', 'state'],
  ['zip', 'zip'],
  ['country', 'country'],
]);

/** A record in a request; `places` has the indexes of the events in the batch that the record combines. */
export type CrmInput = { readonly input: JsonObject; readonly places: readonly number[] };

/**
 * Makes one input per contact, because HubSpot refuses a request that contains a contact twice; later events override
 * earlier ones. Throws UnfitEventError if a contact has no id.
 */
export function contactInputs(
  events: readonly OutboundEvent[],
  { idProperty, properties }: ContactKey,
): readonly CrmInput[] {
  return placesById(events, idProperty).map(([id, places]) => {
    const given = places.flatMap((place) => Object.entries(contactPropertiesOf(events[place], properties)));
    const emails = places.flatMap((place) => emailOf(events[place]) ?? []);
    return {
      places,
      input: {
        idProperty: idProperty ?? 'email',
        id,
        // HubSpot's errors refer to inputs by this id.
        objectWriteTraceId: String(places[0]),
        properties: present({ ...Object.fromEntries(given), email: emails.at(-1), [idProperty ?? 'email']: id }),
      },
    };
  });
}

/**
 * How contacts are identified, and which properties are set besides the default ones. `idProperty` is the HubSpot
 * property with the external id; undefined if contacts are identified by e-mail address.
 */
export type ContactKey = { readonly idProperty: string | undefined; readonly properties: readonly string[] };

const emailOf = (event: OutboundEvent | undefined): string | undefined =>
  event === undefined ? undefined : contactIds(event).email?.toLowerCase();

const contactIdOf = (event: OutboundEvent, idProperty: string | undefined): string | undefined =>
  idProperty === undefined ? emailOf(event) : contactIds(event).externalId;

export const isKnownContact = (event: OutboundEvent, idProperty: string | undefined): boolean =>
  contactIdOf(event, idProperty) !== undefined;

/** HubSpot's id of the record that a request for one record wrote; undefined if HubSpot refused it. */
export function recordIdIn(answer: OutboundAnswer): string | undefined {
  const results = jsonAnswer(answer)?.['results'];
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  return isJsonObject(first) ? textForm(first['id']) : undefined;
}

/** Reads the outcomes of a batch of contacts: HubSpot accepts the valid contacts, and lists the others in a 207. */
export function readContactAnswer(
  answer: OutboundAnswer,
  events: readonly OutboundEvent[],
  idProperty: string | undefined,
): readonly Outcome[] | undefined {
  return readInputErrors(answer, events.length, placesById(events, idProperty));
}

/**
 * Reads the outcomes of a batch of records of any type. `records` has each record's id and the indexes of its events.
 */
export function readInputErrors(
  answer: OutboundAnswer,
  count: number,
  records: readonly (readonly [string, readonly number[]])[],
): readonly Outcome[] | undefined {
  const errors = answer.status === 207 ? jsonAnswer(answer)?.['errors'] : undefined;
  if (!Array.isArray(errors)) return undefined;
  const reasons = new Map<string, string>();
  for (const { category, context } of errors.filter(isJsonObject)) {
    const traceIds = isJsonObject(context) ? context['objectWriteTraceId'] : undefined;
    // An error that names no record may be about any of them, so all are sent again; writing a record again is harmless.
    if (!Array.isArray(traceIds)) {
      return Array.from({ length: count }, () => ({ kind: 'retry', reason: rowRefusal(category), unnamed: 'any' }));
    }
    for (const traceId of traceIds) reasons.set(String(traceId), rowRefusal(category));
  }
  const refusals = new Map<number, string>();
  for (const [, places] of records) {
    const reason = reasons.get(String(places[0]));
    if (reason !== undefined) for (const place of places) refusals.set(place, reason);
  }
  return rowOutcomes(count, refusals);
}

function placesById(
  events: readonly OutboundEvent[],
  idProperty: string | undefined,
): readonly (readonly [string, readonly number[]])[] {
  const places = new Map<string, number[]>();
  events.forEach((event, place) => {
    const id = contactIdOf(event, idProperty);
    if (id === undefined)
      throw new UnfitEventError(
        `a contact in HubSpot needs an ${idProperty === undefined ? 'e-mail address' : 'external id'}`,
      );
    const known = places.get(id);
    if (known === undefined) places.set(id, [place]);
    else known.push(place);
  });
  return [...places];
}

/**
 * A contact's default properties, and those that the settings list; HubSpot would refuse a contact with an unknown
 * property.
 */
function contactPropertiesOf(event: OutboundEvent | undefined, contactProperties: readonly string[]): JsonObject {
  if (event === undefined) return {};
  const isMapped = mappedProperties(event) !== undefined;
  const traits = traitsOf(event);
  const { firstName, lastName } = nameIn(traits);
  const phone = contactIds(event).phone ?? traits['phone_number'];
  const named = { ...traits, ...present({ first_name: firstName, last_name: lastName, phone_number: phone }) };
  const properties = Object.entries(named).flatMap(([name, value]) => {
    const standard = standardNames.get(name);
    const text = hubspotText(value);
    const isKnown = standard !== undefined || isMapped || contactProperties.includes(name);
    return isKnown && text !== undefined && name !== 'email' ? [[standard ?? name, text] as const] : [];
  });
  return Object.fromEntries(properties);
}

const nameCharactersMax = 50;
const propertiesMax = 50;
const valueCharactersMax = 256;
const addressCharactersMax = 1_024;
/** HubSpot's properties for addresses of pages, whose values may be longer than others. */
const addressProperties: ReadonlySet<string> = new Set(['hs_page_url', 'hs_url', 'hs_referrer']);

/** A custom event. Throws UnfitEventError if the event has no contact, or no name that is valid in HubSpot. */
export function hubspotEvent(event: OutboundEvent, hubId: string | undefined): JsonObject {
  const sent = sentEvent(event);
  const { email } = contactIds(event);
  const utk = browserId(sent, ['hubspotutk']);
  if (email === undefined && utk === undefined) {
    throw new UnfitEventError('HubSpot needs an e-mail address or the cookie hubspotutk');
  }
  return {
    eventName: qualifiedName(sent.name, hubId),
    email,
    utk,
    occurredAt: new Date(sent.timeMs).toISOString(),
    uuid: eventUuid(sent.id),
    properties: textProperties(propertiesOf(event)),
  };
}

/** Whether a name is an internal HubSpot event name, such as pe1234_order_completed. */
export function isQualified(name: string): boolean {
  return /^pe\d+_/.test(name);
}

function qualifiedName(name: string, hubId: string | undefined): string {
  if (isQualified(name)) return name;
  const internal = internalName(name);
  if (internal === '' || hubId === undefined) throw new UnfitEventError('the event has no name that HubSpot accepts');
  return `pe${hubId}_${internal}`;
}

/** Properties as texts with valid names, within HubSpot's limits; HubSpot refuses an event with an invalid property. */
function textProperties(properties: JsonObject): JsonObject {
  const texts = Object.entries(properties).flatMap(([name, value]) => {
    const internal = internalName(name);
    const text = hubspotText(value);
    if (text === undefined || internal === '' || internal.length > nameCharactersMax) return [];
    const charactersMax = addressProperties.has(internal) ? addressCharactersMax : valueCharactersMax;
    // The start of a list or an object is not JSON.
    if (text.length > charactersMax && typeof value !== 'string') return [];
    return [[internal, text.slice(0, charactersMax).toWellFormed()] as const];
  });
  return Object.fromEntries(texts.slice(0, propertiesMax));
}

/** A name in HubSpot's internal form: lower-case letters, digits and underscores, starting with a letter. */
function internalName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
}

/** A value as text, the only type that HubSpot accepts; lists and objects as JSON, undefined for null. */
export function hubspotText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return textForm(value) ?? JSON.stringify(value);
}
