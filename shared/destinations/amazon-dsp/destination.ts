import { countryCode } from '../../routing/modifications/countries.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer, rowOutcomes, rowRefusal } from '../sdk/answers.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import type { OAuthNeed } from '../../egress/oauth-grant.ts';
import { answerBodyBytesMax } from '../../egress/outbound.ts';
import { hashDatum, hashPerson, knownPerson } from '../sdk/person.ts';
import type { KnownPerson } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import {
  address,
  choice,
  matching,
  optionalBaseUrl,
  optionalText,
  readWebUrl,
  requiredText,
  token,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const regions = {
  NA: { url: 'https://advertising-api.amazon.com', tokenUrl: 'https://api.amazon.com/auth/o2/token' },
  EU: { url: 'https://advertising-api-eu.amazon.com', tokenUrl: 'https://api.amazon.co.uk/auth/o2/token' },
  FE: { url: 'https://advertising-api-fe.amazon.com', tokenUrl: 'https://api.amazon.co.jp/auth/o2/token' },
} as const;
const batchEventsMax = 500;
// The response repeats the accepted events, so that a request is smaller than the longest response that is read.
const bodyBytesMax = answerBodyBytesMax - batchEventsMax * 100;
const nameCharactersMax = 256;

const settings = {
  accountId: requiredText({
    label: 'Account ID',
    placeholder: 'amzn1.ads-account.g.…',
    sublabel: 'ID of the advertiser account.',
    example: 'amzn1.ads-account.g.example',
  }),
  region: address(
    choice<keyof typeof regions>({
      label: 'Region',
      options: [
        { label: 'North America', value: 'NA' },
        { label: 'Europe', value: 'EU' },
        { label: 'Far East', value: 'FE' },
      ],
      fallback: 'NA',
      example: 'NA',
    }),
  ),
  dataSetName: optionalText(
    { label: 'Data set', placeholder: 'SluiceEvents', sublabel: 'The name under which events are grouped.' },
    matching(/^[A-Za-z][\w-]{0,99}$/, 'must start with a letter and contain only letters, digits, _ and -'),
  ),
  eventSource: choice({
    label: 'Event source',
    options: ['WEBSITE', 'ANDROID', 'IOS', 'FIRE_TV', 'OFFLINE'],
    sublabel: 'Where events happen.',
    fallback: 'WEBSITE',
    example: 'WEBSITE',
  }),
  countryCode: requiredText(
    {
      label: 'Country',
      placeholder: 'US',
      sublabel: 'Two letters. For events whose visitor has no country.',
      example: 'US',
    },
    matching(/^[A-Z]{2}$/, 'must be two capital letters such as US'),
  ),
  clientId: token({
    label: 'Client ID',
    sublabel: 'From a Login with Amazon app with access to the Ads API.',
    example: 'amzn1.application-oa2-client.example',
  }),
  clientSecret: token({ label: 'Client secret', example: 'example-secret' }),
  refreshToken: token({ label: 'Refresh token', sublabel: 'From a user of the account.', example: 'Atzr-example' }),
  ...adSettings,
  baseUrl: optionalBaseUrl(regions.NA.url),
  tokenUrl: address(optionalText({ label: 'Token URL', placeholder: regions.NA.tokenUrl }, readWebUrl)),
};

/**
 * Amazon DSP, Events API of Amazon Ads: `POST /adsApi/v1/create/events`, up to 500 events, with a result for each
 * row. https://advertising.amazon.com/API/docs/en-us/guides/events/events; data format as in
 * segmentio/action-destinations, amazon-conversions-api. The event id is `eventId`, by which Amazon deduplicates. The
 * property `consent` may contain `amzn_ad_storage` and `amzn_user_data`, each `GRANTED` or `DENIED`, or a `tcf` or
 * `gpp` string; Amazon requires one of these in Europe. Without consent, the visitor's IP address is sent, from which
 * Amazon derives the country.
 */
export const amazonDsp = defineDestination({
  id: 'AmazonDSP',
  label: 'Amazon DSP (Events API)',
  settings,
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: batchEventsMax },
    deduplicatesBy: 'eventId',
    errors: 'row by row in a 207',
    limitedUse: 'dataProcessingOptions: LIMITED_DATA_USE; amazonConsent: amznAdStorage and amznUserData DENIED',
    sources: ['https://advertising.amazon.com/API/docs/en-us/guides/events/events'],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).amazonDspPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { accountId, clientId, clientSecret, refreshToken } = given;
  const region = regions[given.region];
  const url = `${given.baseUrl ?? region.url}/adsApi/v1/create/events`;
  const headers = { 'amazon-ads-accountid': accountId.trim(), 'amazon-ads-clientid': clientId };
  const oauth: OAuthNeed = {
    grant: {
      tokenUrl: given.tokenUrl ?? region.tokenUrl,
      by: { kind: 'refresh-token', refreshToken },
      client: { id: clientId, secret: clientSecret, sentIn: 'body' },
    },
  };
  return {
    batchEventsMax,
    accepts: acceptsCustomerEvents,
    buildRequest(outbound) {
      const events = outbound.map((event) => amazonEvent(sentEvent(event, given), given));
      const request = postJson({ url, headers, body: { events }, events: outbound });
      return { ...withinBytes(request, bodyBytesMax), oauth };
    },
    readAnswer: (answer, events) => readRows(answer, events.length),
  };
}

type Described = Pick<SettingsOf<typeof settings>, 'dataSetName' | 'eventSource' | 'countryCode'>;

function amazonEvent(
  event: SentEvent,
  { dataSetName, eventSource, countryCode: standardCountry }: Described,
): JsonObject {
  const person = knownPerson(event);
  const keys = matchKeys(event, person);
  if (keys.length === 0) throw new UnfitEventError('the event has no identifier that Amazon could match');
  const conversionType = standardName(event) ?? 'OTHER';
  const isPurchase = conversionType === 'OFF_AMAZON_PURCHASES';
  const { value, currency, itemCount } = commerceOf(event);
  const attributes = customData(event);
  const country = person.country === undefined ? undefined : countryCode(person.country)?.toUpperCase();
  return {
    eventDescription: {
      name: event.name.slice(0, nameCharactersMax).toWellFormed(),
      conversionType,
      eventSource: sourceOf(event, eventSource),
      eventIngestionMethod: 'SERVER_TO_SERVER',
      dataSetName,
    },
    eventTime: new Date(event.timeMs).toISOString(),
    countryCode: country ?? regionOfLocale(event) ?? standardCountry,
    matchKeys: keys,
    eventId: event.deduplicationId,
    value,
    currencyCode: isPurchase && value !== undefined ? currency : undefined,
    unitsSold: isPurchase ? itemCount : undefined,
    consent: consentOf(event),
    dataProcessingOptions: isLimited(event) ? { options: 'LIMITED_DATA_USE' } : undefined,
    customData: attributes.length === 0 ? undefined : attributes,
  };
}

const standardName = platformEventNames('AmazonDSP');

const ownAttributes = [
  'brand',
  'category',
  'productId',
  ...Array.from({ length: 10 }, (_, index) => `attr${index + 1}`),
];

/** The attributes for Amazon's reports, from the event's properties, or else from the first product. */
function customData(event: SentEvent): readonly JsonObject[] {
  const [item] = commerceOf(event).items;
  const ofItem: JsonObject = { brand: item?.brand, category: item?.category, productId: item?.id };
  return ownAttributes.flatMap((name) => {
    const value = textForm(event.properties[name]) ?? textForm(ofItem[name]);
    return value === undefined || value === '' ? [] : [{ name, value: value.slice(0, nameCharactersMax) }];
  });
}

/** An app event gets its operating system as the source, even if the destination is set to website. */
function sourceOf(event: SentEvent, standard: string): string {
  const { platform } = deviceOf(event);
  return standard === 'WEBSITE' && platform !== undefined && isOfApp(event) ? platform.toUpperCase() : standard;
}

/** The country of a locale such as `de-AT`. */
function regionOfLocale({ context }: SentEvent): string | undefined {
  const locale = textOf(context['locale']) ?? textOf(context['browser_language']);
  return /^[a-z]{2,3}[-_]([A-Z]{2})$/.exec(locale ?? '')?.[1];
}

/** The visitor's street, from the trait `address` if that is an object, or else from the trait `street`. */
function streetOf({ visitor }: SentEvent): string | undefined {
  const { address, street } = visitor.custom_properties;
  return textOf(isJsonObject(address) ? address['street'] : street);
}

/** The identifiers in Amazon's form: personal data hashed, ids unchanged. */
function matchKeys(event: SentEvent, person: KnownPerson): readonly JsonObject[] {
  const { email, firstName, lastName, city, state, zip } = person;
  const lettersAndDigits = (text: string): string | undefined =>
    text.toLowerCase().replaceAll(/[^a-z0-9]/g, '') || undefined;
  const hashes = {
    EMAIL: hashDatum(email, (text) => text.toLowerCase().replaceAll(/[^a-z0-9.@+-]/g, '') || undefined),
    PHONE: hashPerson(person).phone,
    FIRST_NAME: hashDatum(firstName, lettersAndDigits),
    LAST_NAME: hashDatum(lastName, lettersAndDigits),
    ADDRESS: hashDatum(streetOf(event), lettersAndDigits),
    CITY: hashDatum(city, lettersAndDigits),
    STATE: hashDatum(state, lettersAndDigits),
    POSTAL: hashDatum(zip, (text) => text.toLowerCase().replaceAll(/\s/g, '') || undefined),
    MAID: deviceOf(event).advertisingId,
    RAMP_ID: browserId(event, ['ramp_id', 'rampId']),
    MATCH_ID: browserId(event, ['match_id', 'matchId']),
  };
  return Object.entries(hashes).flatMap(([type, hash]) => (hash === undefined ? [] : [{ type, values: [hash] }]));
}

function consentOf(event: SentEvent): JsonObject | undefined {
  if (isLimited(event)) return { amazonConsent: { amznAdStorage: 'DENIED', amznUserData: 'DENIED' } };
  const given = event.properties['consent'];
  const said = isJsonObject(given) ? given : {};
  const isStatus = (value: unknown): boolean => value === 'GRANTED' || value === 'DENIED';
  const [storage, user] = [said['amzn_ad_storage'], said['amzn_user_data']];
  if (isStatus(storage) && isStatus(user)) return { amazonConsent: { amznAdStorage: storage, amznUserData: user } };
  // Amazon requires both, and one denial must not be lost.
  if (storage === 'DENIED' || user === 'DENIED') {
    return { amazonConsent: { amznAdStorage: 'DENIED', amznUserData: 'DENIED' } };
  }
  const tcf = textOf(said['tcf']);
  if (tcf !== undefined) return { tcf };
  const gpp = textOf(said['gpp']);
  if (gpp !== undefined) return { gpp };
  const { ip } = browserContext(event);
  return ip === undefined ? undefined : { geo: { ipAddress: ip } };
}

/** Reads the outcome of each row from a 207, which lists the refused rows by index. */
function readRows(answer: OutboundAnswer, count: number): readonly Outcome[] | undefined {
  const body = answer.status === 207 ? jsonAnswer(answer) : undefined;
  const errors = body?.['error'];
  if (!Array.isArray(errors)) return undefined;
  const refusals = errors.filter(isJsonObject).map(({ index, errors: reasons }) => {
    const [first] = Array.isArray(reasons) ? (reasons as unknown[]) : [];
    const code = isJsonObject(first) ? first['code'] : undefined;
    return [Number(index), rowRefusal(code)] as const;
  });
  return rowOutcomes(count, new Map(refusals));
}
