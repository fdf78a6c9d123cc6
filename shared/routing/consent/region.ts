import { countryCode } from '../modifications/countries.ts';
import { usStateCode } from '../modifications/personal-data.ts';

const european = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' ');

/** Regions that stand for several countries. */
const groups: Readonly<Record<string, ReadonlySet<string>>> = {
  EU: new Set(european),
  EEA: new Set([...european, 'IS', 'LI', 'NO']),
};

/** A visitor's region in codes of ISO 3166; '' if it is unknown. */
export type Region = { readonly country: string; readonly state: string };

export const unknownRegion: Region = { country: '', state: '' };

/** `US-CA`, `DE`, or `unknown`. */
export function regionCode({ country, state }: Region): string {
  if (country === '') return 'unknown';
  return state === '' ? country : `${country}-${state}`;
}

/** The region in a visitor's properties. */
export function regionOf(visitor: Readonly<Record<string, unknown>>): Region {
  const country = typeof visitor['country'] === 'string' ? countryCode(visitor['country']) : undefined;
  if (country === undefined) return unknownRegion;
  const given = typeof visitor['state'] === 'string' ? visitor['state'].trim() : '';
  const name = given.toLowerCase().replaceAll(/[^a-z]/g, '');
  const state = country === 'us' ? (usStateCode(name) ?? given) : given;
  return { country: country.toUpperCase(), state: /^[a-z0-9]{1,3}$/i.test(state) ? state.toUpperCase() : '' };
}

/** Whether a region can cover a visitor: a group, or a country with or without a part of it. */
export function isRegion(region: string): boolean {
  const [country = ''] = region.split('-');
  // Databases of addresses have Kosovo as XK, which is not in ISO 3166.
  return Object.hasOwn(groups, region) || country === 'XK' || countryCode(country) === country.toLowerCase();
}

/** Whether a visitor is in one of these regions, or may be: an unknown region counts as covered. */
export function isCovered(regions: readonly string[], { country, state }: Region): boolean {
  if (country === '') return true;
  return regions.some((region) => {
    if (groups[region]?.has(country) === true || region === country) return true;
    return region.startsWith(`${country}-`) && (state === '' || region === `${country}-${state}`);
  });
}
