import type { JsonObject } from '../process/json.ts';
import { SettingError } from './define.ts';

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
