import { textForm } from '../../routing/values/value-forms.ts';
import { countryCode } from '../../routing/modifications/countries.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserId } from '../sdk/browser-context.ts';
import { amountOf, commerceOf } from '../sdk/commerce.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { conversionIdOf, eventList, otherConversions } from '../sdk/event-list.ts';
import { acceptsCustomerEvents, outboundName, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import type { KindFacts } from '../sdk/facts.ts';
import { googleConsent } from '../sdk/google-consent.ts';
import { googleGrant, googleOAuthSettings } from '../sdk/google-oauth.ts';
import { hashForGoogle } from '../sdk/google-person.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { nameList, pairList } from '../sdk/setting-lists.ts';
import type { Pair } from '../sdk/setting-lists.ts';
import { isHash, knownPerson } from '../sdk/person.ts';
import { baseUrl, choice, matching, optionalText, requiredText, SettingError, toggle } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const standardUrl = 'https://datamanager.googleapis.com';
const scope = 'https://www.googleapis.com/auth/datamanager';
const batchEventsMax = 2_000;
const transactionCharactersMax = 512;

/** The Google products that receive conversions, under Google's names for their account types. */
export type DataManagerAccount = 'GOOGLE_ADS' | 'FLOODLIGHT_CONFIG';

const accountId = matching(/^[\d-]{3,20}$/, 'must be digits');

/** The settings for the account and its conversion action or activity; `account` and `conversion` are their labels. */
export function accountSettings(account: string, conversion: string) {
  return {
    operatingAccountId: requiredText({ label: account, placeholder: '123-456-7890', example: '1234567890' }, accountId),
    productDestinationId: requiredText({ label: conversion, placeholder: '987654321', example: '987654321' }),
  };
}

/** The settings that list events which adjust the value of an earlier Google Ads conversion. */
export const adjustmentSettings = {
  restatingEvents: nameList({
    label: 'Restating events',
    placeholder: 'Order Updated',
    sublabel: "Events that replace the value of their order's conversion with the event's value.",
  }),
  cancellingEvents: nameList({
    label: 'Cancelling events',
    placeholder: 'Order Cancelled',
    sublabel: "Events that set the value of their order's conversion to 0. Google still counts the conversion.",
  }),
};

type AdjustmentSettings = Partial<SettingsOf<typeof adjustmentSettings>>;

/** The settings of all kinds that use the Data Manager API. */
export const ingestSettings = {
  eventNames: eventList(),
  otherConversions: otherConversions(/^\d{1,20}$/, 'Signed Up = 987654322'),
  eventSource: choice({
    label: 'Event source',
    options: ['WEB', 'APP', 'IN_STORE', 'PHONE', 'OTHER'],
    sublabel: 'Where events happen.',
    fallback: 'WEB',
    example: 'WEB',
  }),
  loginAccountId: optionalText(
    { label: 'Login account ID', sublabel: 'The manager account, if access is through one.' },
    accountId,
  ),
  ...adSettings,
  merchantId: optionalText(
    {
      label: 'Merchant Center ID',
      placeholder: '1234567',
      sublabel:
        'If set, purchases include their products, for conversions with cart data. Product IDs must be those in Merchant Center.',
    },
    matching(/^\d{1,20}$/, 'must be a number'),
  ),
  merchantFeedLabel: optionalText(
    { label: 'Feed label', placeholder: 'US', sublabel: 'From the product feed; required with a Merchant Center ID.' },
    matching(/^[A-Z0-9_-]{1,20}$/, 'must be capital letters, digits, _ or -'),
  ),
  merchantFeedLanguage: optionalText(
    {
      label: 'Feed language',
      placeholder: 'EN',
      sublabel: 'From the product feed; required with a Merchant Center ID.',
    },
    matching(/^[A-Za-z]{2}$/, 'must be a two-letter language such as EN'),
  ),
  customVariables: pairList({
    label: 'Custom variables',
    placeholder: 'plan = plan_type, store = u3',
    sublabel: 'Event properties, each with its custom variable of the conversion action or Floodlight activity.',
    value: /^\w{1,100}$/,
  }),
  ...googleOAuthSettings('It needs access to the account.'),
  validateOnly: toggle({ label: 'Validate only', sublabel: 'Events are validated but not recorded.' }),
  baseUrl: baseUrl(standardUrl),
};

export const ingestFacts = {
  limits: { events: batchEventsMax, rate: '300 requests a minute, 100,000 a day' },
  deduplicatesBy: 'transactionId',
  errors: "status of the whole request; later each event in the account's diagnostics",
  limitedUse: 'consent: adUserData and adPersonalization CONSENT_DENIED',
  consentTypes: ['ad_user_data', 'ad_personalization'],
  sources: [
    'https://developers.google.com/data-manager/api/reference/rest/v1/events/ingest',
    'https://developers.google.com/data-manager/api/devguides/concepts/formatting',
    'https://developers.google.com/data-manager/api/devguides/limits',
    'https://developers.google.com/data-manager/api/devguides/events/google-ads/conversion-adjustments',
  ],
  checked: '2026-11-27',
  version: { name: 'v1', ends: undefined },
  notCarried: [
    "retractions: the Data Manager API documents restatements only; a cancelling event sets the conversion's value to 0",
    'adjustments of store sales and calls: the API does not support them',
  ],
} as const satisfies Omit<KindFacts, 'sends'>;

type IngestSettings = SettingsOf<ReturnType<typeof accountSettings> & typeof ingestSettings> & AdjustmentSettings;

/** Prepares conversions and adjustments. Throws SettingError for incomplete credentials or conflicting settings. */
export function prepareIngest(given: IngestSettings, accountType: DataManagerAccount): PreparedDestination {
  const { loginAccountId, eventNames, eventSource, validateOnly } = given;
  const account = (id: string): JsonObject => ({ accountType, accountId: id.replaceAll('-', '') });
  const own = { names: eventNames, id: given.productDestinationId.trim() };
  const adjustmentOf = readAdjustments(given, accountType);
  const conversionOf = (event: OutboundEvent) =>
    adjustmentOf(event) === undefined ? conversionIdOf(event, own, given.otherConversions) : own.id;
  const feed = readFeed(given);
  const destination = {
    operatingAccount: account(given.operatingAccountId),
    loginAccount: loginAccountId === undefined ? undefined : account(loginAccountId),
  };
  const oauth = { grant: googleGrant(given, scope) };
  const url = `${given.baseUrl}/v1/events:ingest`;
  return {
    batchEventsMax,
    accepts: (event) => conversionOf(event) !== undefined,
    // A request declares its conversion action or activity once, for all its events.
    groupOf: (event) => conversionOf(event) ?? own.id,
    buildRequest(outbound) {
      const events = outbound.map((event) =>
        dataManagerEvent(sentEvent(event, given), {
          accountType,
          standardSource: eventSource,
          feed,
          adjustment: adjustmentOf(event),
          given,
        }),
      );
      const [first] = outbound;
      const productDestinationId = (first === undefined ? undefined : conversionOf(first)) ?? own.id;
      const body = {
        destinations: [{ ...destination, productDestinationId }],
        encoding: 'HEX',
        validateOnly: validateOnly || undefined,
        events,
      };
      return { ...postJson({ url, body, events: outbound }), oauth };
    },
  };
}

/**
 * How an event changes an earlier conversion, which Google finds by transaction id within the conversion action.
 * https://developers.google.com/data-manager/api/devguides/events/google-ads/conversion-adjustments
 */
type Adjustment = 'restate' | 'cancel';

/**
 * Returns a function that says how an event adjusts a conversion. Throws SettingError if an event is listed twice, or
 * if events are listed for Floodlight.
 */
function readAdjustments(given: IngestSettings, accountType: DataManagerAccount) {
  const plain = (names: readonly string[] = []): ReadonlySet<string> =>
    new Set(names.map((name) => name.toLowerCase()));
  const [restating, cancelling] = [plain(given.restatingEvents), plain(given.cancellingEvents)];
  if (accountType !== 'GOOGLE_ADS' && restating.size + cancelling.size > 0) {
    const key = restating.size > 0 ? 'restatingEvents' : 'cancellingEvents';
    throw new SettingError(key, 'is for Google Ads conversions only');
  }
  for (const name of restating) {
    if (cancelling.has(name))
      throw new SettingError('cancellingEvents', `must not contain ${name}, which is listed as restating`);
  }
  for (const [key, names] of [
    ['restatingEvents', restating],
    ['cancellingEvents', cancelling],
  ] as const) {
    const twice = [...names].find((name) => given.eventNames.has(name) || given.otherConversions.has(name));
    if (twice !== undefined) throw new SettingError(key, `must not contain ${twice}, which is listed as a conversion`);
  }
  return (event: OutboundEvent): Adjustment | undefined => {
    if (!acceptsCustomerEvents(event)) return undefined;
    const name = outboundName(event).trim().toLowerCase();
    if (restating.has(name)) return 'restate';
    return cancelling.has(name) ? 'cancel' : undefined;
  };
}

/** The Merchant Center feed that contains the products. */
type Feed = {
  readonly merchantId: string;
  readonly merchantFeedLabel: string;
  readonly merchantFeedLanguageCode: string;
};

function readFeed(given: IngestSettings): Feed | undefined {
  const { merchantId, merchantFeedLabel, merchantFeedLanguage } = given;
  if (merchantId === undefined) return undefined;
  if (merchantFeedLabel === undefined) throw new SettingError('merchantFeedLabel', 'requires merchantId');
  if (merchantFeedLanguage === undefined) throw new SettingError('merchantFeedLanguage', 'requires merchantId');
  return { merchantId, merchantFeedLabel, merchantFeedLanguageCode: merchantFeedLanguage.toLowerCase() };
}

/**
 * The products of a purchase; undefined if there is no feed, or if a product has no id or price, which Google requires.
 */
function cartData(event: SentEvent, feed: Feed | undefined): JsonObject | undefined {
  const { items } = commerceOf(event);
  const whole = items.flatMap(({ id, price, quantity }) =>
    id === undefined || price === undefined ? [] : [{ merchantProductId: id, quantity, unitPrice: price }],
  );
  if (feed === undefined || whole.length === 0 || whole.length < items.length) return undefined;
  const discount = amountOf(event.properties['discount']);
  return { ...feed, ...present({ transactionDiscount: discount }), items: whole };
}

type Conversion = {
  readonly given: IngestSettings;
  readonly adjustment: Adjustment | undefined;
  readonly accountType: DataManagerAccount;
  readonly standardSource: string;
  readonly feed: Feed | undefined;
};

function dataManagerEvent(event: SentEvent, conversion: Conversion): JsonObject {
  const { accountType, standardSource, feed, adjustment, given } = conversion;
  const eventSource = standardSource === 'WEB' && isOfApp(event) ? 'APP' : standardSource;
  const { value: said, currency: known, orderId } = commerceOf(event);
  const isCancelled = adjustment === 'cancel';
  const value = isCancelled ? 0 : said;
  // The event of a cancellation may have no amount, and therefore no currency.
  const currency = known ?? (isCancelled ? event.defaultCurrency : undefined);
  if (adjustment !== undefined && orderId === undefined) {
    throw new UnfitEventError('an event that adjusts a conversion needs its order id (order_id)');
  }
  if (adjustment !== undefined && value === undefined) throw new UnfitEventError('a restating event needs a value');
  const adIdentifiers = present({
    gclid: browserId(event, ['gclid']),
    gbraid: browserId(event, ['gbraid']),
    sessionAttributes: browserId(event, ['session_attributes', 'sessionAttributes']),
    wbraid: browserId(event, ['wbraid']),
    ...(accountType === 'FLOODLIGHT_CONFIG' ? floodlightIds(event) : {}),
  });
  const userIdentifiers = userIdentifiersOf(event);
  if (adIdentifiers === undefined && userIdentifiers.length === 0) {
    throw new UnfitEventError('Google needs a click id, an e-mail address, a phone number or a postal address');
  }
  return {
    transactionId: transactionId(event, orderId, given).slice(0, transactionCharactersMax),
    eventTimestamp: new Date(event.timeMs).toISOString(),
    eventSource,
    adIdentifiers,
    userData: userIdentifiers.length === 0 ? undefined : { userIdentifiers },
    consent: googleConsent(event, { granted: 'CONSENT_GRANTED', denied: 'CONSENT_DENIED' }),
    conversionValue: value,
    currency: value === undefined ? undefined : currency,
    customVariables: customVariables(event, given.customVariables),
    cartData: standardEventOf(event.name) === 'purchase' ? cartData(event, feed) : undefined,
  };
}

/** The value of the property that the settings name, or else the order id, or else the event id. */
function transactionId(event: SentEvent, orderId: string | undefined, given: IngestSettings): string {
  const isNamed = given.deduplicationProperty !== undefined && event.deduplicationId !== event.id;
  return isNamed ? event.deduplicationId : (orderId ?? event.deduplicationId);
}

function customVariables(event: SentEvent, pairs: readonly Pair[]): readonly JsonObject[] | undefined {
  const variables = pairs.flatMap(([property, variable]) => {
    const value = textForm(event.properties[property]);
    return value === undefined || value === '' ? [] : [{ variable, value }];
  });
  return variables.length === 0 ? undefined : variables;
}

/** Identifiers that Floodlight matches in addition to the click ids of Google Ads. */
function floodlightIds(event: SentEvent): JsonObject {
  return {
    dclid: browserId(event, ['dclid']),
    impressionId: browserId(event, ['impression_id', 'impressionId']),
    matchId: browserId(event, ['match_id', 'matchId']),
    mobileDeviceId: deviceOf(event).advertisingId,
  };
}

function userIdentifiersOf(event: SentEvent): readonly JsonObject[] {
  const person = knownPerson(event);
  const { email, phone, firstName, lastName } = hashForGoogle(person);
  const regionCode = person.country === undefined ? undefined : countryCode(person.country)?.toUpperCase();
  const postalCode = textOf(person.zip);
  const isPlace = regionCode !== undefined && postalCode !== undefined && !isHash(postalCode);
  return [
    ...(email === undefined ? [] : [{ emailAddress: email }]),
    ...(phone === undefined ? [] : [{ phoneNumber: phone }]),
    // Google matches country and postal code only together with first and last name.
    ...(firstName !== undefined && lastName !== undefined && isPlace
      ? [{ address: { givenName: firstName, familyName: lastName, regionCode, postalCode } }]
      : []),
  ];
}
