import { amountOf, commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import {
  contextOf,
  groupIn,
  groupOfVisitor,
  identifyEvent,
  isGroup,
  isIdentify,
  mappedProperties,
  numberOf,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { integrationOptions } from '../sdk/integration-options.ts';
import { present, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import { namedTraits } from '../sdk/trait-names.ts';
import type { TraitNames } from '../sdk/trait-names.ts';
import type { JsonObject } from '../../runtime/json.ts';

/** Context members that fill a field of the event, and are therefore not sent as properties too. */
const fieldNames: ReadonlySet<string> = new Set([
  'ip',
  'user_agent',
  'os_name',
  'os_version',
  'device_type',
  'device_model',
  'device_brand',
  'device_manufacturer',
  'device_ad_tracking_enabled',
  'app_version',
  'network_carrier',
  'location_country',
  'location_region',
  'location_city',
  'language',
  'locale',
  'browser_language',
  'sid',
]);

/** Names of Amplitude in Segment and RudderStack: events may carry options for Amplitude under each of these names. */
export const amplitudeNames = ['Amplitude', 'Actions Amplitude', 'AM'] as const;

export type AmplitudeSettings = {
  readonly groupType: string | undefined;
  readonly traitNames: TraitNames;
  readonly revenueOf: 'orders' | 'products';
};

const standardGroupType = 'company';

/**
 * The row of an event. If revenue is sent by product, and all products of an order have prices, also a row per product.
 */
export function amplitudeRows(event: OutboundEvent, given: AmplitudeSettings): readonly JsonObject[] {
  const row = amplitudeEvent(event, given);
  const products = given.revenueOf === 'products' ? productRows(event, row) : [];
  return products.length === 0 ? [row] : [withoutMembers(row, ofRevenue), ...products];
}

const ofRevenue: ReadonlySet<string> = new Set(['revenue', 'revenueType']);

/** A row per product, with its `price` and `quantity`: https://amplitude.com/docs/apis/analytics/http-v2. */
function productRows(event: OutboundEvent, row: JsonObject): readonly JsonObject[] {
  const sent = sentEvent(event);
  if (standardEventOf(sent.name) !== 'purchase') return [];
  const properties = propertiesOf(event);
  const { items, currency, orderId } = commerceOf({ properties, defaultCurrency: undefined });
  if (items.some(({ price }) => price === undefined)) return [];
  return items.map(({ id, name, category, brand, variant, price = 0, quantity, others }, index) => ({
    ...row,
    event_type: 'Product Purchased',
    insert_id: `${sent.id}-${index + 1}`,
    event_properties: { ...others, ...present({ order_id: orderId, currency, name, category, brand, variant }) },
    price,
    quantity,
    revenue: Math.round(price * quantity * 1e6) / 1e6,
    productId: id,
    revenueType: row['revenueType'] ?? 'Purchase',
  }));
}

function amplitudeEvent(event: OutboundEvent, given: AmplitudeSettings): JsonObject {
  const sent = sentEvent(event);
  const { id, name, timeMs } = sent;
  const properties = propertiesOf(event);
  const ids = contactIds(event);
  const context = contextOf(event);
  const groupType = given.groupType ?? standardGroupType;
  const common = { user_id: ids.externalId, device_id: ids.visitorId, time: timeMs, insert_id: id, ...fieldsOf(event) };
  const traits = namedTraits(traitsOf(event), given.traitNames);
  if (isIdentify(event)) return { ...common, event_type: identifyEvent, user_properties: { $set: traits } };
  if (isGroup(event)) {
    const group = groupIn(properties, groupType);
    if (group === undefined) throw new UnfitEventError('the event has no group id');
    const groups = { [group.type]: group.id };
    const set = Object.keys(group.traits).length === 0 ? {} : { group_properties: { $set: group.traits } };
    return { ...common, event_type: '$groupidentify', groups, ...set };
  }
  const group = groupOfVisitor(event);
  const isMapped = mappedProperties(event) !== undefined;
  return {
    ...common,
    event_type: name,
    event_properties: { ...withoutMembers(context, fieldNames), ...properties },
    groups: group === undefined ? undefined : { [groupType]: group },
    user_properties: isMapped ? undefined : userProperties(traits, context),
    revenue: revenueOf(sent, properties),
    revenueType: textOf(properties['revenueType']) ?? textOf(properties['revenue_type']),
  };
}

/** The person's traits and traffic source; the first source is also kept permanently. */
function userProperties(traits: JsonObject, context: JsonObject): JsonObject | undefined {
  const origin = originOf(context);
  const first = Object.entries(origin).map(([name, value]) => [`initial_${name}`, value] as const);
  return present({
    $set: present({ ...traits, ...origin }),
    $setOnce: present(Object.fromEntries(first)),
  });
}

const campaignNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/** Campaign and referrer; a referrer on the same site is left out. */
function originOf(context: JsonObject): Readonly<Record<string, string>> {
  const referrer = textOf(context['referrer']);
  const host = hostOf(referrer);
  const isOutside = host !== undefined && host !== hostOf(textOf(context['current_url']));
  const campaign = campaignNames.flatMap((name) => {
    const value = textOf(context[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(campaign),
    ...(referrer !== undefined && isOutside ? { referrer, referring_domain: host } : {}),
  };
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/**
 * Device, location and session; empty if a mapping chose the properties. Amplitude itself derives a browser's operating
 * system from the User-Agent.
 */
function fieldsOf(event: OutboundEvent): JsonObject {
  if (mappedProperties(event) !== undefined) return {};
  const sent = sentEvent(event);
  const { context } = sent;
  const { platform, advertisingId, vendorId } = deviceOf(sent);
  const options = integrationOptions(sent, amplitudeNames);
  const sessionId =
    numberOf(sent.properties['session_id']) ?? numberOf(options['session_id']) ?? numberOf(context['sid']);
  const isApp = isOfApp(sent);
  return {
    ip: textOf(context['ip']),
    session_id: sessionId !== undefined && Number.isSafeInteger(sessionId) && sessionId >= 0 ? sessionId : undefined,
    app_version: textOf(context['app_version']),
    platform: isApp ? (platform === 'ios' ? 'iOS' : 'Android') : textOf(context['current_url']) && 'Web',
    os_name: textOf(context['os_name']),
    os_version: textOf(context['os_version']),
    device_brand: textOf(context['device_brand']),
    device_manufacturer: textOf(context['device_manufacturer']),
    device_model: textOf(context['device_model']) ?? textOf(context['device_type']),
    carrier: textOf(context['network_carrier']),
    country: textOf(context['location_country']),
    region: textOf(context['location_region']),
    city: textOf(context['location_city']),
    language: textOf(context['locale']) ?? textOf(context['language']) ?? textOf(context['browser_language']),
    idfa: platform === 'ios' ? advertisingId : undefined,
    adid: platform === 'android' ? advertisingId : undefined,
    idfv: vendorId,
    user_agent: textOf(context['user_agent']),
  };
}

/** The amount of a purchase, under any common name; for all other events, the property `revenue`. */
function revenueOf(sent: SentEvent, properties: JsonObject): number | undefined {
  if (standardEventOf(sent.name) !== 'purchase') return amountOf(properties['revenue']);
  return commerceOf({ properties, defaultCurrency: undefined }).value;
}
