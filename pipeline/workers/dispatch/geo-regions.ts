import { isIP } from 'node:net';
import { open } from 'maxmind';
import type { CityResponse, Reader } from 'maxmind';
import type { Region } from '../../../shared/routing/consent/region.ts';
import { unknownRegion } from '../../../shared/routing/consent/region.ts';
import { CannotStartError } from '../../../shared/runtime/cannot-start.ts';

/** Where the visitor of an address is. */
export type GeoRegions = { regionOf(address: string): Region };

/** Without a database nothing is known of any address. */
export const noGeoRegions: GeoRegions = { regionOf: () => unknownRegion };

/** Addresses that are remembered: those of one page's visitors come again and again. */
const rememberedMax = 10_000;

/** Opens a database of countries or cities in MaxMind's format, which is read again when the file changes. */
export async function openGeoRegions(path: string | undefined): Promise<GeoRegions> {
  if (path === undefined) return noGeoRegions;
  const reader = await openReader(path, true);
  return {
    regionOf(address) {
      // What is no address would be read as one.
      const version = isIP(address);
      if (version === 0 || version > reader.metadata.ipVersion) return unknownRegion;
      try {
        const found = reader.get(address);
        return { country: found?.country?.iso_code ?? '', state: found?.subdivisions?.[0]?.iso_code ?? '' };
      } catch {
        // A database with a damaged part: what it does not say is unknown, and counts as covered.
        return unknownRegion;
      }
    },
  };
}

/** Throws CannotStartError where there is a path, and no such database. */
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
