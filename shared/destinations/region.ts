import type { JsonObject } from '../process/json.ts';
import { readBaseUrl } from './base-url.ts';
import type { SettingDescriptor } from './define.ts';
import { choiceSetting } from './settings.ts';

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
