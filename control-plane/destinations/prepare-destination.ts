import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import type { DestinationKind, PreparedDestination } from '../../shared/destinations/sdk/destination.ts';
import { whyUnavailable } from '../../shared/collections/unavailable-destination-types.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';
import { openSettings } from './settings.ts';
import type { SettingSealer } from './settings.ts';

/** The kind with this name. Throws a 400 if this build does not offer it. */
export function offeredKind(type: string): DestinationKind {
  const kind = findDestinationKind(type);
  if (kind === undefined) {
    const reason = whyUnavailable(type) ?? 'its name is not known.';
    throw badRequest(`type ${type} is not offered: ${reason} See GET /rest/v1/destinations/types`);
  }
  return kind;
}

export type ReadyDestination = {
  readonly kind: DestinationKind;
  /** Settings with unencrypted secrets. */
  readonly settings: JsonObject;
  readonly prepared: PreparedDestination;
};

/** Makes a destination ready to send, as the pipeline does. Throws a 400 for settings that its kind does not accept. */
export function prepareDestination(type: string, sealed: JsonObject, sealer: SettingSealer): ReadyDestination {
  return prepareKind(offeredKind(type), openSettings(sealed, sealer));
}

/** Like `prepareDestination`, for settings whose secrets are not encrypted. */
export function prepareKind(kind: DestinationKind, settings: JsonObject): ReadyDestination {
  try {
    return { kind, settings, prepared: kind.prepare(settings) };
  } catch (error) {
    if (error instanceof SettingError) throw badRequest(error.message);
    throw error;
  }
}
