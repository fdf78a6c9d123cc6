import type { JsonObject } from '../../process/json.ts';
import { SettingError } from './destination.ts';
import type { SettingDescriptor } from './destination.ts';
import { isHeaderValue, readWebUrl } from './http.ts';

/** A setting that must be text. Throws SettingError when it is missing, empty or of another type. */
export function textSetting(settings: JsonObject, key: string): string {
  const text = optionalTextSetting(settings, key);
  if (text === undefined) throw new SettingError(key, 'is required');
  return text;
}

/** Text, or undefined when the setting is missing, null or empty. */
export function optionalTextSetting(settings: JsonObject, key: string): string | undefined {
  const value = settings[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new SettingError(key, 'must be text');
  return value;
}

/** One of the values of a Select. */
export function choiceSetting<Choice extends string>(
  settings: JsonObject,
  key: string,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  const text = optionalTextSetting(settings, key);
  if (text === undefined) return fallback;
  const chosen = choices.find((choice) => choice === text);
  if (chosen === undefined) throw new SettingError(key, `must be one of ${choices.join(', ')}`);
  return chosen;
}

/** A whole number written as text, or given as a number. */
export function countSetting(
  settings: JsonObject,
  key: string,
  limits: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = settings[key];
  const text = typeof value === 'number' ? String(value) : optionalTextSetting(settings, key);
  if (text === undefined) return limits.fallback;
  const count = Number(text);
  if (!/^\d+$/.test(text.trim()) || count < limits.min || count > limits.max) {
    throw new SettingError(key, `must be a whole number from ${limits.min} to ${limits.max}`);
  }
  return count;
}

/** The setting that sends a platform's requests elsewhere: a regional address, a proxy, a server for tests. */
export function baseUrlSetting(standard: string): SettingDescriptor {
  return {
    type: 'Text',
    key: 'baseUrl',
    label: 'Base URL',
    placeholder: standard,
    sublabel: `Only where requests must go elsewhere than to ${standard}.`,
    required: null,
  };
}

/** The address requests start with, without a slash at its end. Throws SettingError naming `baseUrl`. */
export function readBaseUrl(settings: JsonObject, standard: string): string {
  const given = optionalTextSetting(settings, 'baseUrl');
  return (given === undefined ? standard : readWebUrl('baseUrl', given)).replace(/\/+$/, '');
}

/** A place a platform keeps its customers' data in, with an address of its own. */
export type Region = { readonly value: string; readonly label: string; readonly url: string };

/** The regions of a platform; the first is meant where none is chosen. */
export type Regions = readonly [Region, ...Region[]];

/** The setting that chooses where the platform keeps the data. */
export function regionSetting(regions: Regions): SettingDescriptor {
  return {
    type: 'Select',
    key: 'region',
    label: 'Region',
    options: regions.map(({ value, label }) => ({ label, value })),
    sublabel: 'Where your project lives.',
    required: null,
    defaultValue: regions[0].value,
  };
}

/** The address requests start with: `baseUrl` where it is given, else that of the region. Throws SettingError. */
export function readRegionUrl(settings: JsonObject, regions: Regions): string {
  const values = regions.map(({ value }) => value);
  const chosen = choiceSetting(settings, 'region', values, regions[0].value);
  const region = regions.find(({ value }) => value === chosen) ?? regions[0];
  return readBaseUrl(settings, region.url);
}

/** A required secret that travels in a header, without the space that comes along when one is pasted. */
export function tokenSetting(settings: JsonObject, key: string): string {
  const token = textSetting(settings, key).trim();
  if (token === '') throw new SettingError(key, 'is required');
  if (!isHeaderValue(token)) throw new SettingError(key, 'must be one line of plain characters');
  return token;
}

/** How many events a platform takes in one request at most, and how many are sent where the setting is not given. */
export type BatchLimits = { readonly max: number; readonly fallback: number };

/** The setting that says how many events travel in one request. */
export function batchSizeSetting({ max, fallback }: BatchLimits): SettingDescriptor {
  return {
    type: 'Text',
    key: 'batchSize',
    label: 'Batch size',
    placeholder: String(fallback),
    sublabel: `Events a request at most, 1 to ${max}.`,
    required: null,
  };
}

/** Throws SettingError naming `batchSize`. */
export function readBatchSize(settings: JsonObject, limits: BatchLimits): number {
  return countSetting(settings, 'batchSize', { min: 1, ...limits });
}
