import { expect, test } from 'vitest';
import { findDestinationKind } from './registry.ts';
import type { OutboundEvent } from './sdk/destination.ts';
import { limitedDataUse } from './sdk/limited-data-use.ts';
import { sampleVisit } from './testing/sample-visit.ts';

const nowMs = 1_700_000_060_000;

/** How a limit is sent to a platform that has terms for one, as it stands in the body or the URL. */
const sentAs: Readonly<Record<string, string>> = {
  NextdoorAds: '"delivery_optimization":false',
  OpenAIAds: '"opt_out":true',
  RokuCAPI: '"opt_out":"true"',
  Spotify: '"opt_out_targeting":true',
  TheTradeDesk: '"data_processing_option":{"policies":["LDU"],"region":"US-CA"}',
};

/** Platforms without such words, which are not sent the event. */
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

/** Platforms that know the conversion by its click, and receive nothing else of the person. */
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

test('limited data use: The Trade Desk asks for a state of the law, and is not sent an event without one', () => {
  const { accepts } = preparedKind('TheTradeDesk');
  expect(accepts(visit({ [limitedDataUse]: true }, { state: undefined }))).toBe(false);
});

function preparedKind(id: string) {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no kind ${id}`);
  const { accepts, buildRequest } = kind.prepare(kind.exampleSettings);
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

/** Of a visitor in California. */
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
