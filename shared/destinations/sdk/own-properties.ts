import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

const propertiesMax = 100;
const listMax = 100;
const textCharactersMax = 500;

/**
 * An event's properties for which the platform has no field; advertisers use them for audiences and
 * rules. Only texts, numbers, booleans and lists of these are kept. Properties that may identify a
 * person are left out, because platforms accept such properties only hashed, in fields of their own.
 */
export function ownProperties({ properties }: SentEvent, placed: ReadonlySet<string>): JsonObject {
  const own: Record<string, unknown> = {};
  let count = 0;
  for (const [name, value] of Object.entries(properties)) {
    if (count === propertiesMax) break;
    if (placed.has(name) || elsewhere.has(name) || ofPersons.test(name) || name.startsWith('$')) continue;
    const fit = Array.isArray(value) ? fitList(value) : fitValue(value);
    if (fit === undefined) continue;
    own[name] = fit;
    count += 1;
  }
  return own;
}

/**
 * The properties that carry the platform's own parameter names, unchanged. Also matches
 * `contentName` for `content_name`. Only texts and numbers are kept.
 */
export function ownParameters<Name extends string>(
  { properties }: SentEvent,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string | number>>> {
  const given = names.flatMap((name) => {
    const value = fitParameter(properties[name]) ?? fitParameter(properties[camelCase(name)]);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given) as Partial<Record<Name, string | number>>;
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function fitParameter(value: unknown): string | number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && value !== '' ? value.slice(0, textCharactersMax).toWellFormed() : undefined;
}

/** Properties that every kind with own properties sends in other fields. */
const elsewhere: ReadonlySet<string> = new Set([
  'value',
  'revenue',
  'total',
  'currency',
  'order_id',
  'orderId',
  'transaction_id',
  'transactionId',
  'products',
  'items',
  'contents',
  'content_ids',
  'num_items',
  'search_string',
  'search_term',
  'query',
  'event_id',
  'eventId',
  'eventID',
  'client_dedup_id',
  'deduplication_id',
  'action_source',
  'limited_data_use',
  'consent',
  'visitor',
  'lead_id',
  'fbc',
  'fbp',
  'fbclid',
  'ttclid',
  'ttp',
  'url',
  'referrer',
  '__proto__',
]);

/** Names of properties that identify a person. */
const ofPersons =
  /e-?mail|phone|mobile|(first|last|full|user|sur|middle|maiden)_?-?name|birth|^dob$|gender|passw|token|secret|ssn|^ip$|ip_?address|user_?agent|street|address|zip|postal|card|iban|^(fn|ln|em|ph|db|ge|ct|st|zp)$|external_?id|user_?id|anonymous_?id|device_?id|advertising_?id|^(idfa|idfv|gaid|aaid)$/i;

/** An e-mail address, or a number as long as a phone or card number. */
const namesSomebody = /[^\s@]+@[^\s@]+\.[^\s@]+|^\+?[\d\s().-]{9,}$/;

function fitValue(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (typeof value !== 'string' || value === '' || namesSomebody.test(value)) return undefined;
  return value.slice(0, textCharactersMax).toWellFormed();
}

function fitList(values: readonly unknown[]): readonly unknown[] | undefined {
  const fit = values.slice(0, listMax).flatMap((value) => fitValue(value) ?? []);
  return fit.length === 0 ? undefined : fit;
}
