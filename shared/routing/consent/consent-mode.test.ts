import { expect, test } from 'vitest';
import { headOf } from '../../contracts/events/resolved-event.ts';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import type { ConsentSetting } from './compile-consent.ts';
import { compileConsentMode, isSameMode } from './consent-mode.ts';
import { unknownRegion } from './region.ts';
import type { Region } from './region.ts';

const purpose = (name: string, own: Partial<ConsentSetting> = {}): ConsentSetting => ({
  name,
  isEnabled: true,
  defaultState: 'Granted',
  regions: null,
  destinationIds: [],
  signals: { googleConsentMode: ['ad_storage'] },
  ...own,
});

const unexpected = (): void => expect.unreachable('strings are counted elsewhere');

type LastWords = ReadonlyMap<string, { readonly isDenial: boolean; readonly atMs: number }>;

function modeOf(
  settings: readonly ConsentSetting[],
  consent: Readonly<Record<string, boolean>>,
  context: Readonly<Record<string, unknown>> = {},
  last?: LastWords,
) {
  const { v, event, visitor } = sampleEvent({ consent });
  const subject = { event: { ...event, context }, visitor };
  const regionOf = (address: string): Region =>
    address === '203.0.113.7' ? { country: 'FR', state: '' } : unknownRegion;
  const now = { lastWords: () => last, onUnreadable: unexpected, regionOf };
  const find = compileConsentMode(settings, ['ad_storage', 'ad_user_data']);
  return find?.(headOf({ v, event: subject.event, visitor }), subject, now);
}

test('consent mode: a type is granted if all its purposes are granted, even purposes that the destination does not serve', () => {
  const both = [purpose('a'), purpose('b', { signals: { googleConsentMode: ['ad_storage', 'ad_user_data'] } })];
  expect(modeOf(both, { a: true, b: true })).toEqual({ ad_storage: 'GRANTED', ad_user_data: 'GRANTED' });
  expect(modeOf(both, { a: false, b: true })).toEqual({ ad_storage: 'DENIED', ad_user_data: 'GRANTED' });
  expect(modeOf(both, { a: true, b: false })).toEqual({ ad_storage: 'DENIED', ad_user_data: 'DENIED' });
});

test('consent mode: a type without an enabled purpose is left out, and without any type the result is undefined', () => {
  expect(modeOf([purpose('a')], {})).toEqual({ ad_storage: 'GRANTED' });
  expect(modeOf([], {})).toBeUndefined();
  expect(modeOf([purpose('a', { isEnabled: false })], {})).toBeUndefined();
  expect(modeOf([purpose('a', { signals: null }), purpose('b', { signals: {} })], {})).toBeUndefined();
  expect(modeOf([purpose('a', { signals: { googleConsentMode: ['ad_personalization'] } })], {})).toBeUndefined();
});

test('consent mode: a string that cannot be read denies, and is not counted a second time', () => {
  const signals = { gpp: ['saleOptOut'], googleConsentMode: ['ad_storage'] };
  expect(modeOf([purpose('a', { signals })], {}, { gpp: 'broken' })).toEqual({ ad_storage: 'DENIED' });
});

test('consent mode: a withdrawal counts, and so does the region of an IP address', () => {
  const withdrawn = new Map([['a', { isDenial: true, atMs: 1 }]]);
  expect(modeOf([purpose('a')], {}, {}, withdrawn)).toEqual({ ad_storage: 'DENIED' });
  const inGermany = purpose('a', { defaultState: 'Denied', regions: ['DE'] });
  expect(modeOf([inGermany], {}, { ip: '203.0.113.7' })).toEqual({ ad_storage: 'GRANTED' });
  expect(modeOf([inGermany], {}, { ip: '203.0.113.8' })).toEqual({ ad_storage: 'DENIED' });
});

test('consent mode: two modes are the same if their types have the same values, and undefined is the same as an empty mode', () => {
  const granted = { ad_storage: 'GRANTED' } as const;
  expect(isSameMode(undefined, undefined)).toBe(true);
  expect(isSameMode(undefined, {})).toBe(true);
  expect(isSameMode(granted, { ...granted })).toBe(true);
  expect(isSameMode(granted, { ad_storage: 'DENIED' })).toBe(false);
  expect(isSameMode(granted, { ...granted, ad_user_data: 'DENIED' })).toBe(false);
  expect(isSameMode(granted, undefined)).toBe(false);
});
