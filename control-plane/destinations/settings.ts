import { secretMask } from '../../shared/contracts/config/secrets.ts';
import type { DestinationKind } from '../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import type { SettingDescriptor } from '../../shared/destinations/sdk/settings.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { isSealed } from '../../shared/contracts/config/secrets.ts';
import { badRequest } from '../api/api-error.ts';

/** Seals and opens the secrets of one destination, by key. */
export type SettingSealer = { seal(key: string, plain: string): string; open(key: string, sealed: string): string };

const textCharsMax = 16_384;

/**
 * Merges settings from a client into the stored ones, key by key; null clears a key. Applies defaults and seals
 * secrets. Throws a 400 that names the key. Returns null if nothing is set. `missingSettings` checks for completeness.
 * If the merged settings send to another scheme, host or port, each secret must be sent again or cleared: otherwise a
 * client that may change the address could receive stored secrets there.
 */
export function mergeSettings(
  kind: DestinationKind,
  stored: JsonObject | null,
  sent: JsonObject | null,
  sealer: SettingSealer,
): JsonObject | null {
  const { id, settings: descriptors } = kind.descriptor;
  const byKey = new Map(descriptors.map((descriptor) => [descriptor.key, descriptor]));
  // Settings sent as null are all cleared.
  const merged: Record<string, unknown> = sent === null ? {} : { ...stored };
  for (const [key, value] of Object.entries(sent ?? {})) {
    const descriptor = byKey.get(key);
    if (descriptor === undefined) throw badRequest(`settings.${key} is not a setting of ${id}`);
    if (descriptor.type === 'Alert') throw badRequest(`settings.${key} is a note and cannot have a value`);
    const isChoice = descriptor.type === 'Switch' || descriptor.type === 'Select';
    if (value === null || (value === '' && !isChoice)) delete merged[key];
    else merged[key] = takeValue(descriptor, value, merged[key], sealer);
  }
  for (const descriptor of descriptors) {
    const fallback = 'defaultValue' in descriptor ? descriptor.defaultValue : null;
    if (merged[descriptor.key] === undefined && fallback !== null) merged[descriptor.key] = fallback;
  }
  refuseMovedSecrets(kind, stored ?? {}, sent ?? {}, merged);
  return Object.keys(merged).length === 0 ? null : merged;
}

/**
 * The required settings that are not set, by key. Throws a 400 for settings that are set but cannot be used for a
 * reason that descriptors cannot express, such as an invalid URL.
 */
export function missingSettings(kind: DestinationKind, settings: JsonObject, sealer: SettingSealer): readonly string[] {
  const missing = kind.descriptor.settings.filter(
    (descriptor) => 'required' in descriptor && descriptor.required === true && settings[descriptor.key] === undefined,
  );
  if (missing.length > 0) return missing.map(({ key }) => key);
  try {
    kind.prepare(openSettings(settings, sealer));
    return [];
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    if (settings[error.key] === undefined) return [error.key];
    throw badRequest(error.message);
  }
}

/** Throws a 400 if a stored secret would be sent to an address other than the one for which it was set. */
function refuseMovedSecrets(
  kind: DestinationKind,
  stored: JsonObject,
  sent: JsonObject,
  merged: Readonly<Record<string, unknown>>,
): void {
  const [before, after] = [kind.addresses(stored), kind.addresses(merged)];
  const moved = Object.keys({ ...before, ...after }).filter((key) => before[key] !== after[key]);
  if (moved.length === 0) return;
  const kept = Object.keys(stored).filter(
    (key) =>
      isSealed(stored[key]) && merged[key] !== undefined && (sent[key] === undefined || sent[key] === secretMask),
  );
  if (kept.length === 0) return;
  throw badRequest(
    `${namedSettings(kept)} must be sent again, or cleared by null`,
    `${namedSettings(moved)} would send the stored secrets to another address`,
  );
}

/** The settings with their secrets opened. */
export function openSettings(settings: JsonObject, sealer: SettingSealer): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isSealed(value) ? sealer.open(key, value) : value]),
  );
}

function takeValue(
  descriptor: Exclude<SettingDescriptor, { type: 'Alert' }>,
  value: unknown,
  stored: unknown,
  sealer: SettingSealer,
): unknown {
  const { key } = descriptor;
  switch (descriptor.type) {
    case 'Switch':
      if (typeof value !== 'boolean') throw badRequest(`settings.${key} must be true or false`);
      return value;
    case 'Select': {
      const values = descriptor.options.map((option) => option.value);
      if (typeof value === 'string' && values.includes(value)) return value;
      throw badRequest(`settings.${key} must be one of ${values.join(', ')}`);
    }
    case 'Text':
      if (!isText(value)) throw badRequest(`settings.${key} must be a string of at most ${textCharsMax} characters`);
      // Such a value would be read as a sealed secret that cannot be opened.
      if (isSealed(value)) throw badRequest(`settings.${key} must not begin like a sealed secret`);
      return value;
    case 'Secret':
    case 'GenericOauth':
      if (!isText(value)) throw badRequest(`settings.${key} must be a string of at most ${textCharsMax} characters`);
      return takeSecret(key, value, stored, sealer);
  }
}

function namedSettings(keys: readonly string[]): string {
  return keys.map((key) => `settings.${key}`).join(', ');
}

function takeSecret(key: string, value: string, stored: unknown, sealer: SettingSealer): string {
  if (value === secretMask) {
    if (isSealed(stored)) return stored;
    throw badRequest(`settings.${key} is the mask of a secret, but none is stored`);
  }
  // A secret that is sent unchanged keeps its stored form, so that it does not look like a change.
  if (isSealed(stored) && sealer.open(key, stored) === value) return stored;
  return sealer.seal(key, value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textCharsMax;
}
