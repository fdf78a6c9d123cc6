import { hash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { ga4Name, ga4ParameterName } from './names.ts';

const parametersMax = 25;
const itemsMax = 200;
const valueCharactersMax = 100;
/** https://support.google.com/analytics/answer/9267744 */
const longerValues: Readonly<Record<string, number>> = { page_location: 1_000, page_referrer: 420, page_title: 300 };

/** An event of a request to the Measurement Protocol. `properties` are those that are its parameters. */
export function ga4Event(event: SentEvent, properties: JsonObject, context: JsonObject): JsonObject {
  const name = ga4Name(event.name);
  if (name === undefined) throw new UnfitEventError('the event has no name that Google Analytics could take');
  return { name, timestamp_micros: event.timeMs * 1_000, params: parametersOf(properties, context) };
}

function parametersOf({ items, ...properties }: JsonObject, context: JsonObject): JsonObject {
  const parameters = new Map<string, unknown>();
  // Without these two an event shows in no report of what users do.
  parameters.set('engagement_time_msec', numberOr(properties['engagement_time_msec'], 1));
  const sessionId = sessionOf(properties['session_id'] ?? context['sid']);
  if (sessionId !== undefined) parameters.set('session_id', sessionId);
  const page = {
    page_location: context['current_url'],
    page_title: context['title'],
    page_referrer: context['referrer'],
  };
  addAll(parameters, '', page, 0);
  addAll(parameters, '', properties, 0);
  if (Array.isArray(items)) parameters.set('items', items.slice(0, itemsMax).filter(isJsonObject).map(itemOf));
  return Object.fromEntries([...parameters].slice(0, parametersMax));
}

const depthMax = 4;

/** Members of objects become parameters of their own, `address_city`: a parameter is one text or number. */
function addAll(parameters: Map<string, unknown>, prefix: string, members: JsonObject, depth: number): void {
  for (const [key, value] of Object.entries(members)) {
    if (parameters.size >= parametersMax) return;
    const name = ga4ParameterName(`${prefix}${key}`);
    if (name === undefined || name === 'engagement_time_msec' || name === 'session_id') continue;
    if (isJsonObject(value)) {
      if (depth < depthMax) addAll(parameters, `${name}_`, value, depth + 1);
      continue;
    }
    const fit = valueOf(value, longerValues[name] ?? valueCharactersMax);
    if (fit !== undefined) parameters.set(name, fit);
  }
}

function itemOf(item: JsonObject): JsonObject {
  const members = Object.entries(item).slice(0, parametersMax + 2);
  return Object.fromEntries(
    members.flatMap(([key, value]) => {
      const fit = valueOf(value, valueCharactersMax);
      return fit === undefined ? [] : [[key.slice(0, 40), fit]];
    }),
  );
}

/** A value as Google Analytics takes it; a list as one text. Undefined for what it cannot be told. */
function valueOf(value: unknown, charactersMax: number): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value === '' ? undefined : cut(value, charactersMax);
  if (typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string' || typeof item === 'number');
  return texts.length === 0 ? undefined : cut(texts.join(','), charactersMax);
}

function cut(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).toWellFormed();
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && value >= 0 ? value : fallback;
}

/** A session is a number there; one that is something else becomes a number of its own. */
function sessionOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value);
  if (text === undefined || /^\d{1,18}$/.test(text)) return text;
  return String(parseInt(hash('sha256', text, 'hex').slice(0, 8), 16));
}
