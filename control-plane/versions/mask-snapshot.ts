import type { Snapshot } from '../../shared/config/account-config.ts';
import { isJsonObject } from '../../shared/process/json.ts';
import { maskSettings } from '../destinations/settings.ts';

/** A snapshot as a client may read it. */
export function maskSnapshot(snapshot: Snapshot): Snapshot {
  const destinations = snapshot.destinations.map((destination) => {
    const settings = destination['settings'];
    return isJsonObject(settings) ? { ...destination, settings: maskSettings(settings) } : destination;
  });
  return { ...snapshot, destinations };
}
