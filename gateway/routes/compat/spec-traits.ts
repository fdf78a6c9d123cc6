import { copyMember, numberText } from '../../../shared/json/exact-numbers.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';

const textCharactersMax = 2_000;

/**
 * Traits that have a name of their own here, in lower case and without underscores: libraries write `firstName`,
 * `first_name` and `firstname` for one trait. They are the reserved traits of Segment's and RudderStack's Identify
 * calls (segment.com/docs/connections/spec/identify, rudderstack.com/docs/event-spec/standard-events/identify), and
 * further names that their destinations read.
 */
const ownNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    email: 'email',
    firstname: 'first_name',
    lastname: 'last_name',
    gender: 'gender',
    birthday: 'date_of_birth',
    dateofbirth: 'date_of_birth',
    phone: 'phone_number',
    phonenumber: 'phone_number',
    title: 'job_title',
    jobtitle: 'job_title',
    companyname: 'company_name',
    city: 'city',
    state: 'state',
    region: 'state',
    zip: 'zip',
    zipcode: 'zip',
    postalcode: 'zip',
    postcode: 'zip',
    country: 'country',
  }),
);

const placeNames: ReadonlySet<string> = new Set(['city', 'state', 'zip', 'country']);

/** The visitor properties that traits become: under our name if there is one, else as custom properties. */
export function userPropertiesOf(traits: JsonObject): JsonObject {
  const properties: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(traits)) {
    const own = ownNameOf(name);
    const text = own === undefined ? undefined : propertyText(traits, name);
    if (own !== undefined && text !== undefined) setFirst(properties, own, text);
    else if (name === 'address' && isJsonObject(value)) addAddress(value, properties, custom);
    else if (name === 'company') addCompany(traits, properties, custom);
    else copyMember(custom, name, traits);
  }
  if (Object.keys(custom).length > 0) properties['custom_properties'] = custom;
  return properties;
}

function addAddress(address: JsonObject, properties: Record<string, unknown>, custom: Record<string, unknown>): void {
  const rest: Record<string, unknown> = {};
  for (const name of Object.keys(address)) {
    const own = ownNameOf(name);
    const text = own !== undefined && placeNames.has(own) ? propertyText(address, name) : undefined;
    if (own !== undefined && text !== undefined) setFirst(properties, own, text);
    else copyMember(rest, name, address);
  }
  if (Object.keys(rest).length > 0) custom['address'] = rest;
}

function addCompany(traits: JsonObject, properties: Record<string, unknown>, custom: Record<string, unknown>): void {
  const { company } = traits;
  const name = isJsonObject(company) ? propertyText(company, 'name') : propertyText(traits, 'company');
  if (name !== undefined) properties['company_name'] ??= name;
  if (isJsonObject(company) || name === undefined) copyMember(custom, 'company', traits);
}

/** If a trait has two names, the first with a value counts. */
function setFirst(properties: Record<string, unknown>, name: string, text: string | null): void {
  const before = properties[name];
  if (before === undefined || before === null || before === '') properties[name] = text;
}

const ownNameOf = (name: string): string | undefined => ownNames.get(name.toLowerCase().replaceAll('_', ''));

/** The text of a trait; null clears it; undefined if it cannot be a visitor property. */
function propertyText(holder: JsonObject, name: string): string | null | undefined {
  const value = holder[name];
  if (value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return numberText(holder, name) ?? String(value);
  return typeof value === 'string' && value.length <= textCharactersMax ? value : undefined;
}
