import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { browserContext, browserId, findBrowserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { deviceOf, extendedDeviceInfo, isOfApp } from '../sdk/device.ts';
import { checkAge, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { dataProcessingOptions } from '../sdk/limited-data-use.ts';
import { ownParameters, ownProperties } from '../sdk/own-properties.ts';
import { hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/** The action sources that Meta defines. */
export const facebookActionSources = [
  'website',
  'app',
  'phone_call',
  'chat',
  'email',
  'physical_store',
  'system_generated',
  'business_messaging',
  'other',
] as const;

/** The ids by which Meta knows people in its messaging channels. */
const messagingIds = [
  'ctwa_clid',
  'page_id',
  'page_scoped_user_id',
  'ig_account_id',
  'ig_sid',
  'whatsapp_business_account_id',
] as const;
const partnerIds = ['partner_id', 'partner_name'] as const;

const daysMax = 7;
const daysMaxInStore = 62;

/**
 * An event of Meta's Conversions API. Standard events and their parameters:
 * https://developers.facebook.com/docs/meta-pixel/reference; other names are custom events. Throws UnfitEventError
 * if the API would refuse the event, and with it the whole request.
 */
export function facebookEvent(event: SentEvent, standardSource: string, nowMs: number): JsonObject {
  const actionSource = actionSourceOf(event, standardSource);
  checkAge(event, nowMs, actionSource === 'physical_store' ? daysMaxInStore : daysMax);
  const name = standardName(event) ?? event.name;
  return {
    event_name: name,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    action_source: actionSource,
    messaging_channel: actionSource === 'business_messaging' ? messagingChannel(event) : undefined,
    opt_out: event.properties['opt_out'] === true ? true : undefined,
    event_source_url: actionSource === 'app' ? undefined : browserContext(event).url,
    user_data: userData(event),
    custom_data: customData(event, name),
    app_data: actionSource === 'app' ? appData(event) : undefined,
    ...dataProcessingOptions(event, lawsOfStates),
  };
}

/** Meta's codes of the US states whose privacy laws it supports, by ISO 3166-2 code. */
const lawsOfStates: ReadonlyMap<string, number> = new Map([
  ['US-CA', 1_000],
  ['US-CO', 1_001],
  ['US-CT', 1_002],
  ['US-FL', 1_003],
  ['US-OR', 1_004],
  ['US-TX', 1_005],
  ['US-MT', 1_006],
  ['US-DE', 1_007],
  ['US-NE', 1_008],
  ['US-NH', 1_009],
  ['US-NJ', 1_010],
]);

/**
 * The action source that the event names, or else the destination's. If that is `website`, an app event with a known
 * operating system is sent as `app`. An event that lacks the page address or the User-Agent, both of which `website`
 * requires, is sent as `system_generated`.
 */
function actionSourceOf(event: SentEvent, standardSource: string): string {
  const named = namedActionSource(event, facebookActionSources);
  if (named !== undefined || standardSource !== 'website') return named ?? standardSource;
  if (isOfApp(event) && deviceOf(event).platform !== undefined) return 'app';
  const { url, userAgent } = browserContext(event);
  return url === undefined || userAgent === undefined ? 'system_generated' : standardSource;
}

/** The channel of a messaging event. Throws UnfitEventError if there is none, because Meta would refuse the event. */
function messagingChannel(event: SentEvent): string {
  const channel = ownParameters(event, ['messaging_channel']).messaging_channel;
  if (channel === undefined) throw new UnfitEventError('an event of business_messaging needs its messaging_channel');
  return String(channel).toLowerCase();
}

const standardName = platformEventNames('Facebook');

function userData(event: SentEvent): JsonObject {
  const person = hashPerson(knownPerson(event));
  const { ip, userAgent } = browserContext(event);
  const data = {
    em: listOf(person.email),
    ph: listOf(person.phone),
    ln: listOf(person.lastName),
    external_id: listOf(hashedMatchingId(event)),
    client_ip_address: ip,
    fbc: clickCookie(event),
    fbp: browserId(event, ['fbp', '_fbp']),
    lead_id: textOf(event.properties['lead_id']),
    madid: deviceOf(event).advertisingId,
    ...textsOf(ownParameters(event, messagingIds)),
  };
  // The fields that are added below are not enough to match a person: the API refuses an event that has only these.
  const enough = present(data);
  if (enough === undefined) throw new UnfitEventError('the event has no identifier that Meta could match');
  return {
    ...enough,
    ...present({
      fn: listOf(person.firstName),
      ge: listOf(person.gender),
      db: listOf(person.dateOfBirth),
      ct: listOf(person.city),
      st: listOf(person.state),
      zp: listOf(person.zip),
      country: listOf(person.country),
      client_user_agent: userAgent,
      ...textsOf(ownParameters(event, partnerIds)),
    }),
  };
}

const textsOf = (parameters: Readonly<Record<string, string | number>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]));

/**
 * The value of the _fbc cookie, or else a value built from a click id: version, subdomain index, time in ms when the
 * click was first seen (or else of the event), and the unchanged id.
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc
 */
function clickCookie(event: SentEvent): string | undefined {
  const found = findBrowserId(event, ['fbc', '_fbc', 'fbclid']);
  if (found === undefined || /^fb\.\d\.\d+\./.test(found.id)) return found?.id;
  return `fb.1.${Math.floor(found.atMs ?? event.timeMs)}.${found.id}`;
}

/**
 * The fields that Meta requires of an app event,
 * https://developers.facebook.com/docs/marketing-api/conversions-api/app-events. Throws UnfitEventError if the
 * device is unknown, because Meta would refuse the event and the whole request.
 */
function appData(event: SentEvent): JsonObject {
  const { platform, allowsTracking } = deviceOf(event);
  if (platform === undefined) throw new UnfitEventError('an app event needs the operating system of its device');
  const tracking = allowsTracking === false ? 0 : 1;
  return {
    // Apple does not permit tracking before the person decides; Google does.
    advertiser_tracking_enabled: platform === 'ios' && allowsTracking === undefined ? 0 : tracking,
    application_tracking_enabled: tracking,
    extinfo: extendedDeviceInfo(event),
  };
}

function customData(event: SentEvent, name: string): JsonObject | undefined {
  const said = ownParameters(event, parameters);
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  if (name === 'Purchase' && (value === undefined || currency === undefined)) {
    throw new UnfitEventError('a purchase needs a value and a currency');
  }
  return present({
    ...ownProperties(event, placedProperties),
    value,
    currency,
    order_id: orderId,
    content_ids: itemIds,
    ...said,
    content_category: said.content_category ?? textOf(event.properties['category']),
    content_type: said.content_type ?? (itemIds.length > 0 ? 'product' : undefined),
    contents: items.flatMap(({ id, price, quantity, others }) =>
      id === undefined
        ? []
        : { id, quantity, item_price: price, delivery_category: textOf(others['delivery_category']) },
    ),
    num_items: itemCount,
    search_string: searchText,
  });
}

/** Meta parameters that are sent in custom data with their original names. */
const parameters = ['content_type', 'content_name', 'content_category', 'status'] as const;
const placedProperties: ReadonlySet<string> = new Set([
  ...parameters,
  'contentType',
  'contentName',
  'contentCategory',
  ...messagingIds,
  ...partnerIds,
  'messaging_channel',
  'opt_out',
]);
