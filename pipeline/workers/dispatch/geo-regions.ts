import { isIP } from 'node:net';
import { open } from 'maxmind';
import type { CityResponse, Reader } from 'maxmind';
import type { Region } from '../../../shared/routing/consent/region.ts';
import { unknownRegion } from '../../../shared/routing/consent/region.ts';
import { CannotStartError } from '../../../shared/runtime/cannot-start.ts';

/** Finds the region of a visitor's IP address. */
export type GeoRegions = { regionOf(address: string): Region };

/** Without a database every region is unknown. */
export const noGeoRegions: GeoRegions = { regionOf: () => unknownRegion };

/** Maximum number of addresses whose region is cached: many events of a visitor come from one address. */
const rememberedMax = 10_000;

/** Opens a database of countries or cities in MaxMind's format, and reads it again when the file changes. */
export async function openGeoRegions(path: string | undefined): Promise<GeoRegions> {
  if (path === undefined) return noGeoRegions;
  const reader = await openReader(path, true);
  return {
    regionOf(address) {
      // The reader would accept text that is not an IP address.
      const version = isIP(address);
      if (version === 0 || version > reader.metadata.ipVersion) return unknownRegion;
      try {
        const found = reader.get(address);
        return { country: found?.country?.iso_code ?? '', state: found?.subdivisions?.[0]?.iso_code ?? '' };
      } catch {
        // This part of the database is damaged. An unknown region counts as covered.
        return unknownRegion;
      }
    },
  };
}

/** Throws CannotStartError if no database in MaxMind's format can be read at the path. */
export async function checkGeoDatabase(path: string | undefined): Promise<void> {
  if (path !== undefined) await openReader(path, false);
}

async function openReader(path: string, watches: boolean): Promise<Reader<CityResponse>> {
  try {
    const watching = { watchForUpdates: watches, watchForUpdatesNonPersistent: true };
    return await open<CityResponse>(path, { cache: { max: rememberedMax }, ...watching });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotStartError(`GEOIP_DATABASE cannot be read as a database in MaxMind's format (.mmdb): ${reason}`);
  }
}
