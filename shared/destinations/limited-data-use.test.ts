import { expect, test } from 'vitest';
import type { ConsentMode } from '../contracts/events/consent-words.ts';
import { compileAllowedData } from '../routing/allowed-data.ts';
import { withLimitedData } from './limit-data.ts';
import { destinationKinds, findDestinationKind } from './registry.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';
import { limitedDataUse } from './sdk/limited-data-use.ts';
import { sampleVisit } from './testing/sample-visit.ts';

const nowMs = 1_700_000_060_000;

/** The text in the body or URL by which each platform recognizes limited use. */
const sentAs: Readonly<Record<string, string>> = {
  NextdoorAds: '"delivery_optimization":false',
  OpenAIAds: '"opt_out":true',
  RokuCAPI: '"opt_out":"true"',
  Spotify: '"opt_out_targeting":true',
  TheTradeDesk: '"data_processing_option":{"policies":["LDU"],"region":"US-CA"}',
};

/** Platforms without a field for limited use; the event is not sent to them. */
const passedOver = [
  'AppLovin',
  'IHeartMediaMagellan',
  'LiveIntent',
  'Podscribe',
  'QuantcastCAPI',
  'QuoraAds',
  'Rokt',
  'StackAdaptAPI',
  'Vibe',
  'YelpCAPI',
];

/** Platforms that attribute by click id, with the fields about the person that a limited event leaves out. */
const withoutPerson: Readonly<Record<string, readonly string[]>> = {
  Admitad: ['client_id'],
  Impact: ['CustomerId', 'CustomerEmail', 'IpAddress', 'UserAgent'],
  Outbrain: [],
  Taboola: [],
  Everflow: [],
  Partnerize: [],
};

test.each(Object.entries(sentAs))('limited data use: %s receives %s', (id, words) => {
  const { accepts, said } = preparedKind(id);
  expect(accepts(limited())).toBe(true);
  expect(said(limited())).toContain(words);
  expect(said(unlimited())).not.toContain(words);
});

test.each(passedOver)('limited data use: %s has no words for it, and is not sent the event', (id) => {
  const { accepts } = preparedKind(id);
  expect([accepts(unlimited()), accepts(limited())]).toEqual([true, false]);
});

test.each(Object.entries(withoutPerson))('limited data use: %s receives the click and no person', (id, members) => {
  const { accepts, said } = preparedKind(id);
  expect(accepts(limited())).toBe(true);
  for (const member of members) {
    expect(said(unlimited())).toMatch(new RegExp(String.raw`\b${member}\b`));
    expect(said(limited())).not.toMatch(new RegExp(String.raw`\b${member}\b`));
  }
  expect(said(limited())).not.toMatch(/ada@|customer-1|203\.0\.113\.7/);
});

test('limited data use: The Trade Desk needs the state whose law applies, and is not sent an event without one', () => {
  const { accepts } = preparedKind('TheTradeDesk');
  expect(accepts(visit({ [limitedDataUse]: true }, { state: undefined }))).toBe(false);
});

const ofGa4 = ['"ad_user_data":"DENIED"', '"ad_personalization":"DENIED"'];
const ofDataManager = ['"adUserData":"CONSENT_DENIED"', '"adPersonalization":"CONSENT_DENIED"'];

/** The texts that an event for limited use contains according to each platform's documentation. */
const words: Readonly<Record<string, readonly string[]>> = {
  AmazonDSP: [
    '"amznAdStorage":"DENIED"',
    '"amznUserData":"DENIED"',
    '"dataProcessingOptions":{"options":"LIMITED_DATA_USE"}',
  ],
  BingAds: ['"adStorageConsent":"D"'],
  Facebook: [
    '"data_processing_options":["LDU"]',
    '"data_processing_options_country":1',
    '"data_processing_options_state":1000',
  ],
  GA4MeasurementProtocol: ofGa4,
  ...Object.fromEntries(['Google', 'GoogleAds360', 'GoogleDataManagerEventIngest'].map((id) => [id, ofDataManager])),
  Pinterest: ['"opt_out":true', '"opt_out_type":"LDP"'],
  Reddit: ['"data_processing_options":{"modes":["LDU"]'],
  SnapchatAdsCapi: ['"data_processing_options":["LDU"]'],
  TikTok: ['"limited_data_use":true'],
  ...Object.fromEntries(Object.entries(sentAs).map(([id, one]) => [id, [one]])),
};

/** Consent in an event that grants what its visitor opted out of. */
const consent: ConsentMode = { ad_storage: 'GRANTED', ad_user_data: 'GRANTED', ad_personalization: 'GRANTED' };
const grants = {
  [limitedDataUse]: false,
  consent: { ...consent, amzn_ad_storage: 'GRANTED', amzn_user_data: 'GRANTED' },
};

test.each(
  destinationKinds.filter(({ facts }) => facts.limitedUse !== undefined).map((kind) => [kind.descriptor.id, kind]),
)(
  'onOptOut: %s is sent its words for limited use, whatever the event grants, and only of who opted out',
  (id, kind) => {
    const expected = words[id];
    expect(expected, `the words of ${id} are to be listed in this test`).toBeDefined();
    const stop = preparedKind(id, { onOptOut: 'stop' });
    const { accepts, said } = preparedKind(id, { onOptOut: 'limitedUse' });
    const { resolved } = visit(grants);
    const mapped = { eventName: 'Order Completed', properties: resolved.event.event_properties };
    for (const event of [{ resolved }, { resolved, mapped }]) {
      const limitedEvent = { ...event, isLimited: true };
      expect(accepts(limitedEvent)).toBe(true);
      for (const word of expected ?? []) {
        expect(said(limitedEvent)).toContain(word);
        expect(said(event)).not.toContain(word);
      }
      expect(said(limitedEvent)).not.toMatch(/GRANTED/);
      expect(stop.said(event)).toBe(said(event));
    }
    expect(kind.descriptor.settings.some(({ key }) => key === 'onOptOut')).toBe(true);
  },
);

test.each([
  ['GA4MeasurementProtocol', 'ad_user_data', '"ad_user_data":'],
  ['GA4ServerProxy', 'ad_personalization', '"ad_personalization":'],
  ['GoogleAdsServerContainer', 'ad_user_data', '"ad_user_data":'],
  ['FloodlightSGTM', 'ad_user_data', '"ad_user_data":'],
  ['Google', 'ad_user_data', '"adUserData":'],
  ['GoogleAds360', 'ad_personalization', '"adPersonalization":'],
  ['GoogleDataManagerEventIngest', 'ad_user_data', '"adUserData":'],
  ['BingAds', 'ad_storage', '"adStorageConsent":'],
])('consent mode: %s is sent the consent of purposes as %s; a denial wins', (id, type, member) => {
  const { said } = preparedKind(id);
  const [plain, given] = [visit({}), visit({ consent: { [type]: 'GRANTED' } })].map(({ resolved }) => resolved);
  const refusing = visit({ consent: { [type]: 'DENIED' } }).resolved;
  if (plain === undefined || given === undefined) throw new Error('there are no events');
  const [granted, denied] = [given, refusing].map((resolved) => wordAfter(member, said({ resolved })));
  expect(granted).not.toBe(denied);
  const passed = (resolved: typeof plain, word: 'GRANTED' | 'DENIED', own: Partial<OutboundEvent> = {}) =>
    wordAfter(member, said({ resolved, consentMode: { [type]: word }, ...own }));
  const mapped = { eventName: 'Order Completed', properties: given.event.event_properties };
  expect([passed(plain, 'GRANTED'), passed(refusing, 'GRANTED')]).toEqual([granted, denied]);
  expect([passed(given, 'DENIED'), passed(plain, 'DENIED', { mapped })]).toEqual([denied, denied]);
  expect(kindOf(id).facts.consentTypes).toContain(type);
});

const tagManagerKinds = ['GA4ServerProxy', 'GoogleAdsServerContainer', 'FloodlightSGTM'];

test.each(Object.entries({ ...words, ...Object.fromEntries(tagManagerKinds.map((id) => [id, ofGa4])) }))(
  'limited data use: %s is sent its words for it, whatever purposes and the event grant',
  (id, expected) => {
    const { said } = preparedKind(id);
    const granting = { ...grants, [limitedDataUse]: true };
    const ofVisitor = { consent: { [limitedDataUse]: true } };
    const mapped = { eventName: 'Order Completed', properties: visit(granting).resolved.event.event_properties };
    const limitedEvents: readonly OutboundEvent[] = [
      limited(),
      visit(granting),
      { ...visit({}), mapped },
      visit({}, ofVisitor),
      visit({ consent: grants.consent }, ofVisitor),
    ];
    for (const event of limitedEvents.flatMap((one) => [one, { ...one, consentMode: consent }])) {
      for (const word of expected) expect(said(event)).toContain(word);
    }
  },
);

test('limited data use: the table has every kind that takes consent', () => {
  const taking = destinationKinds.filter(({ facts }) => (facts.consentTypes ?? facts.limitedUse) !== undefined);
  expect(taking.map(({ descriptor }) => descriptor.id).toSorted()).toEqual(
    [...Object.keys(words), ...tagManagerKinds].toSorted(),
  );
});

test('consent mode: an event for limited use is denied, whatever purposes say', () => {
  const { said } = preparedKind('GA4MeasurementProtocol', { onOptOut: 'limitedUse' });
  const body = said({ ...visit({}), consentMode: { ad_user_data: 'GRANTED' }, isLimited: true });
  expect(wordAfter('"ad_user_data":', body)).toBe('DENIED');
});

/** The upper-case text of a member in a request; undefined if the request lacks the member. */
const wordAfter = (member: string, request: string): string | undefined =>
  new RegExp(`${member}"([A-Z_]+)"`).exec(request)?.[1];

test('onOptOut: exactly the kinds whose platform has a form of limited use offer this setting, and other kinds refuse it', () => {
  const offering = destinationKinds.filter(({ descriptor }) =>
    descriptor.settings.some(({ key }) => key === 'onOptOut'),
  );
  expect(offering.map(({ descriptor }) => descriptor.id).toSorted()).toEqual(Object.keys(words).toSorted());
  const { prepare, exampleSettings } = kindOf('LinkedInAdsCAPI');
  expect(() => prepare({ ...exampleSettings, onOptOut: 'limitedUse' })).toThrow('settings.onOptOut');
  expect(() => prepare({ ...exampleSettings, onOptOut: 'stop' })).not.toThrow();
});

test('onOptOut: an allow-list of properties does not remove the mark that an event is for limited use', () => {
  const { prepare, exampleSettings } = kindOf('TikTok');
  const prepared = withLimitedData(prepare({ ...exampleSettings, onOptOut: 'limitedUse' }), () => ({ value: 1 }));
  const { body = '' } = prepared.buildRequest([{ ...visit({}), isLimited: true }], nowMs);
  expect(body).toContain('"limited_data_use":true');
});

const withAllowList = (prepared: PreparedDestination): PreparedDestination => {
  const limit = compileAllowedData([{ name: '*', properties: ['order_id', 'value', 'currency'] }]);
  if (limit === undefined) throw new Error('nothing is limited');
  return withLimitedData(prepared, limit);
};

test.each(Object.entries(words))('limited data use: an allow-list does not keep it from %s', (id, expected) => {
  const { said } = preparedKind(id, {}, withAllowList);
  for (const word of expected) expect(said(limited())).toContain(word);
});

test.each([...passedOver, 'LinkedInAdsCAPI', 'ViantCAPI', 'XAds'])(
  'limited data use: an allow-list does not let %s have the event',
  (id) => {
    expect(preparedKind(id, {}, withAllowList).accepts(limited())).toBe(false);
  },
);

test.each([
  ['GA4MeasurementProtocol', { ad_user_data: 'DENIED' }, '"consent":{"ad_user_data":"DENIED"}'],
  ['Google', { ad_user_data: 'DENIED' }, '"adUserData":"CONSENT_DENIED"'],
  ['BingAds', { ad_storage: 'DENIED' }, '"adStorageConsent":"D"'],
  ['AmazonDSP', { amzn_user_data: 'DENIED' }, '"amznUserData":"DENIED"'],
])('consent: an allow-list does not keep a denial from %s', (id, denial, text) => {
  const event = visit({ consent: { ad_personalization: 'GRANTED', amzn_ad_storage: 'GRANTED', ...denial } });
  expect(preparedKind(id, {}, withAllowList).said(event)).toContain(text);
});

test.each([null, '', ' '])('limited data use: %j of an event leaves that of the visitor’s consent', (absent) => {
  const { said } = preparedKind('TikTok');
  expect(said(visit({ [limitedDataUse]: absent }, { consent: { [limitedDataUse]: true } }))).toContain(
    '"limited_data_use":true',
  );
});

function kindOf(id: string) {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no kind ${id}`);
  return kind;
}

function preparedKind(
  id: string,
  settings: Readonly<Record<string, unknown>> = {},
  wrap: (prepared: PreparedDestination) => PreparedDestination = (prepared) => prepared,
) {
  const kind = kindOf(id);
  const { accepts, buildRequest } = wrap(kind.prepare({ ...kind.exampleSettings, ...settings }));
  return {
    accepts: (event: OutboundEvent) => accepts?.(event) ?? true,
    said(event: OutboundEvent): string {
      const { url, body = '' } = buildRequest([event], nowMs);
      return `${decodeURIComponent(url)} ${body}`;
    },
  };
}

const unlimited = (): OutboundEvent => visit({});
const limited = (): OutboundEvent => visit({ [limitedDataUse]: true });

/** The sample event with these properties, of a visitor in California unless `place` overrides it. */
function visit(properties: Readonly<Record<string, unknown>>, place: Readonly<Record<string, unknown>> = {}) {
  const { resolved } = sampleVisit(nowMs);
  const { event, visitor } = resolved;
  return {
    resolved: {
      ...resolved,
      event: { ...event, event_properties: { ...event.event_properties, ...properties } },
      visitor: { ...visitor, country: 'United States', state: 'CA', ...place },
    },
  };
}
