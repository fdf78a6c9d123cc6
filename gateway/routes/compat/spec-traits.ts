import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';

const textCharactersMax = 2_000;

/**
 * Traits that have a name of their own here. From the reserved traits of Segment's and RudderStack's Identify calls
 * (segment.com/docs/connections/spec/identify, rudderstack.com/docs/event-spec/standard-events/identify).
 */
const ownNames: Readonly<Record<string, string>> = {
  email: 'email',
  firstName: 'first_name',
  first_name: 'first_name',
  firstname: 'first_name',
  lastName: 'last_name',
  last_name: 'last_name',
  lastname: 'last_name',
  gender: 'gender',
  birthday: 'date_of_birth',
  dateOfBirth: 'date_of_birth',
  phone: 'phone_number',
  phone_number: 'phone_number',
  title: 'job_title',
  city: 'city',
  state: 'state',
  zip: 'zip',
  country: 'country',
};

const addressNames: Readonly<Record<string, string>> = {
  city: 'city',
  state: 'state',
  postalCode: 'zip',
  postal_code: 'zip',
  zip: 'zip',
  country: 'country',
};

/** Visitor properties of traits: those with a name of their own here under that, all others as custom properties. */
export function userPropertiesOf(traits: JsonObject): JsonObject {
  const properties: Record<string, unknown> = {};
  const custom: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(traits)) {
    const own = Object.hasOwn(ownNames, name) ? ownNames[name] : undefined;
    if (own !== undefined && isPropertyText(value)) properties[own] = value;
    else if (name === 'address' && isJsonObject(value)) addAddress(value, properties, custom);
    else if (name === 'company') addCompany(value, properties, custom);
    else custom[name] = value;
  }
  if (Object.keys(custom).length > 0) properties['custom_properties'] = custom;
  return properties;
}

function addAddress(address: JsonObject, properties: Record<string, unknown>, custom: Record<string, unknown>): void {
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(address)) {
    const own = Object.hasOwn(addressNames, name) ? addressNames[name] : undefined;
    if (own !== undefined && isPropertyText(value)) properties[own] ??= value;
    else rest[name] = value;
  }
  if (Object.keys(rest).length > 0) custom['address'] = rest;
}

function addCompany(company: unknown, properties: Record<string, unknown>, custom: Record<string, unknown>): void {
  if (isPropertyText(company)) {
    properties['company_name'] = company;
    return;
  }
  if (isJsonObject(company) && isPropertyText(company['name'])) properties['company_name'] = company['name'];
  custom['company'] = company;
}

const isPropertyText = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.length <= textCharactersMax);
