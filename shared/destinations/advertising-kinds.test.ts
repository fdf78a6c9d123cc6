import { describe, expect, it, test } from 'vitest';
import { facebook } from './facebook/destination.ts';
import { ga4MeasurementProtocol } from './ga4-measurement-protocol/destination.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi/destination.ts';
import { liveIntent } from './liveintent/destination.ts';
import { nextdoorAds } from './nextdoor-ads/destination.ts';
import { openaiAds } from './openai-ads/destination.ts';
import { pinterest } from './pinterest/destination.ts';
import { reddit } from './reddit/destination.ts';
import { rokuCapi } from './roku-capi/destination.ts';
import type { DestinationKind, OutboundEvent } from './sdk/destination.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi/destination.ts';
import { spotify } from './spotify/destination.ts';
import { tiktok } from './tiktok/destination.ts';
import { yelpCapi } from './yelp-capi/destination.ts';
import { sampleShopper } from './testing/sample-shopper.ts';

const kinds = [
  facebook,
  linkedinAdsCapi,
  liveIntent,
  nextdoorAds,
  openaiAds,
  pinterest,
  reddit,
  rokuCapi,
  snapchatAdsCapi,
  spotify,
  tiktok,
  yelpCapi,
];
const nowMs = 1_700_000_060_000;

describe.each(kinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_, kind) => {
  it('personal data: no e-mail address, phone number, postal code, id or birthday is sent unhashed', () => {
    const visitor = { date_of_birth: '1990-01-31', gender: 'female', zip: 'SW1A 1AA' };
    const { body = '', url } = kind.prepare(kind.exampleSettings).buildRequest([sampleShopper({ visitor })], nowMs);
    for (const secret of [
      'ada@example.com',
      '8444124653',
      '844 412',
      'customer-7',
      '1990',
      '19900131',
      'SW1A',
      'sw1a',
    ]) {
      expect(body + url).not.toContain(secret);
    }
  });
});

const californian = { country: 'United States', state: 'California' };
const shopper = (properties: Record<string, unknown>, visitor: Record<string, unknown> = californian) =>
  sampleShopper({ properties: { value: 1, currency: 'EUR', ...properties }, visitor });
const inMeta = (country: number, state: number) => ({
  data: [
    {
      data_processing_options: ['LDU'],
      data_processing_options_country: country,
      data_processing_options_state: state,
    },
  ],
});
const inReddit = (place: Record<string, string>) => ({
  data: { events: [{ user: { data_processing_options: { modes: ['LDU'], ...place } } }] },
});

const optedOut = { data: [{ opt_out: true, custom_data: { opt_out_type: 'LDP' } }] };
const denied = { consent: { ad_user_data: 'DENIED', ad_personalization: 'DENIED' } };
const limited = { data: [{ limited_data_use: true }] };

test.each<[kind: DestinationKind, ofCalifornia: object, ofFrance: object]>([
  [facebook, inMeta(1, 1_000), inMeta(0, 0)],
  [ga4MeasurementProtocol, denied, denied],
  [pinterest, optedOut, optedOut],
  [reddit, inReddit({ country: 'US', region: 'US-CA' }), inReddit({ country: 'FR' })],
  [snapchatAdsCapi, inMeta(1, 1_000), inMeta(0, 0)],
  [tiktok, limited, limited],
])('limited data use: $0.descriptor.id is sent its own fields for limited use', (kind, ofCalifornia, ofFrance) => {
  const prepared = kind.prepare(kind.exampleSettings);
  const bodyOf = (event: OutboundEvent): unknown => JSON.parse(prepared.buildRequest([event], nowMs).body ?? '');
  expect(bodyOf(shopper({ limited_data_use: true }))).toMatchObject(ofCalifornia);
  expect(bodyOf(shopper({ limited_data_use: 'true' }, { country: 'fr', state: 'CA' }))).toMatchObject(ofFrance);
  const consent = { limited_data_use: true };
  expect(bodyOf(shopper({}, { ...californian, consent }))).toMatchObject(ofCalifornia);
  for (const open of [shopper({}), shopper({ limited_data_use: false }, { ...californian, consent })]) {
    expect(JSON.stringify(bodyOf(open))).not.toMatch(/LDU|LDP|opt_out|limited_data_use":true|DENIED/);
  }
  const mapped = { eventName: 'Order Completed', properties: { value: 1, currency: 'EUR', limited_data_use: 'yes' } };
  expect(JSON.stringify(bodyOf({ ...shopper({}), mapped }))).toMatch(/LDU|LDP|limited_data_use":true|DENIED/);
});

test('limited data use: LinkedIn, which has no limited mode, is not sent the event', () => {
  const prepared = linkedinAdsCapi.prepare(linkedinAdsCapi.exampleSettings);
  expect(prepared.accepts?.(shopper({}))).toBe(true);
  expect(prepared.accepts?.(shopper({ limited_data_use: true }))).toBe(false);
  expect(prepared.accepts?.(shopper({}, { consent: { limited_data_use: true } }))).toBe(false);
});
