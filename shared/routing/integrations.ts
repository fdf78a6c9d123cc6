import type { PublishedDestination } from './published-destinations.ts';

/** Answers that are remembered: senders say one of a few things. */
const rememberedMax = 1_000;

/**
 * Whether an event may go to this destination by what its sender says of destinations (`integrations` of Segment's and
 * RudderStack's libraries): `false` keeps it away, by the destination's name or its kind, and `All: false` keeps it from
 * every destination that is not named. Names count without case, spaces and what stands in brackets, and the names those
 * two services give to a platform count as its kinds.
 */
export function compileIntegrations(
  destination: Pick<PublishedDestination, 'name' | 'type'>,
): (integrationsJson: string) => boolean {
  const own = new Set([plainName(destination.name), plainName(destination.type), ...namesElsewhere(destination.type)]);
  own.delete('');
  const answers = new Map<string, boolean>();
  return (json) => {
    const known = answers.get(json);
    if (known !== undefined) return known;
    const answer = isWanted(own, JSON.parse(json) as Readonly<Record<string, boolean>>);
    if (answers.size >= rememberedMax) answers.clear();
    answers.set(json, answer);
    return answer;
  };
}

function isWanted(own: ReadonlySet<string>, integrations: Readonly<Record<string, boolean>>): boolean {
  let named: boolean | undefined;
  let all = true;
  for (const [name, wanted] of Object.entries(integrations)) {
    const plain = plainName(name);
    if (own.has(plain)) named = (named ?? true) && wanted;
    else if (plain === 'all') all = wanted;
  }
  return named ?? all;
}

/** `Google Analytics 4 (Actions)` and `google-analytics-4` are one name. */
const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

/**
 * What Segment and RudderStack call the platform of a kind where that is not the kind's own name. From the names in their
 * catalogues (segment.com/docs/connections/destinations/catalog, rudderstack.com/docs/destinations).
 */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  AWSKinesis: ['Amazon Kinesis', 'Kinesis'],
  AWSLambda: ['Amazon Lambda', 'Lambda'],
  AWSSNS: ['Amazon SNS'],
  AdobeAnalytics: ['Adobe Analytics'],
  BingAds: ['Microsoft Advertising', 'Bing Ads', 'Microsoft Bing CAPI'],
  Customerio: ['Customer.io', 'Customer.io Data Pipelines'],
  Facebook: ['Facebook Conversions API', 'Facebook Conversions', 'Meta Conversions API', 'Facebook Pixel'],
  G4Analytics: ['Google Analytics 4', 'GA4'],
  GA4MeasurementProtocol: ['Google Analytics 4', 'Google Analytics 4 Cloud', 'GA4'],
  GA4ServerProxy: ['Google Analytics 4', 'GA4'],
  Google: ['Google Ads', 'Google Ads Conversions', 'Google AdWords Enhanced Conversions'],
  GooglePubSub: ['Google Cloud PubSub', 'Google PubSub'],
  HTTPCustomRequest: ['Webhooks', 'Webhook', 'HTTP'],
  HTTPDestination: ['Webhooks', 'Webhook', 'HTTP', 'HTTP API'],
  LinkedInAdsCAPI: ['LinkedIn Conversions API', 'LinkedIn Ads', 'LinkedIn Insight Tag'],
  Pinterest: ['Pinterest Conversions API', 'Pinterest Tag'],
  Reddit: ['Reddit Conversions API', 'Reddit Pixel'],
  SnapchatAdsCapi: ['Snapchat Conversions API', 'Snapchat Conversion', 'Snap Conversions API'],
  TikTok: ['TikTok Conversions', 'TikTok Ads', 'TikTok Pixel'],
  XAds: ['X Ads', 'Twitter Ads', 'X Conversions API'],
};

const namesElsewhere = (type: string): readonly string[] =>
  (Object.hasOwn(elsewhere, type) ? (elsewhere[type] ?? []) : []).map(plainName);
