import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { deviceOf, extendedDeviceInfo, isOfApp } from '../sdk/device.ts';
import { checkAge, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { dataProcessingOptions } from '../sdk/limited-data-use.ts';
import { ownParameters } from '../sdk/own-properties.ts';
import { hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/** Snap's five custom event names. */
export const snapchatCustomEvents = [
  'CUSTOM_EVENT_1',
  'CUSTOM_EVENT_2',
  'CUSTOM_EVENT_3',
  'CUSTOM_EVENT_4',
  'CUSTOM_EVENT_5',
] as const;

export const snapchatActionSources = ['WEB', 'OFFLINE', 'MOBILE_APP'] as const;
export type SnapchatSource = { readonly actionSource: string; readonly appId: string | undefined };

const daysMax = 37;

/** Snap's name for an event; undefined if there is none, since Snap accepts no other names. */
export const snapchatName = platformEventNames('SnapchatAdsCapi');

/**
 * An event of Snap's Conversions API, https://developers.snap.com/api/marketing-api/Conversions-API/Parameters.
 * Throws UnfitEventError if the event is too old or lacks the identifiers that the API requires.
 */
export function snapchatEvent(event: SentEvent, name: string, source: SnapchatSource, nowMs: number): JsonObject {
  checkAge(event, nowMs, daysMax);
  const actionSource = actionSourceOf(event, source);
  return {
    event_name: name,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    action_source: actionSource,
    event_source_url: actionSource === 'MOBILE_APP' ? undefined : browserContext(event).url,
    user_data: userData(event),
    custom_data: customData(event),
    app_data: actionSource === 'MOBILE_APP' ? appData(event, source.appId) : undefined,
    ...dataProcessingOptions(event),
  };
}

function actionSourceOf(event: SentEvent, source: SnapchatSource): string {
  const standard = source.actionSource === 'WEB' && isOfApp(event) ? 'MOBILE_APP' : source.actionSource;
  return namedActionSource(event, snapchatActionSources) ?? standard;
}

/** The Snap app id of an app event, which is sent to the app's own address; undefined for events of the pixel. */
export const snapAppOf = (event: SentEvent, source: SnapchatSource): string | undefined =>
  source.appId !== undefined && actionSourceOf(event, source) === 'MOBILE_APP' ? source.appId.trim() : undefined;

/**
 * The app (its Snap app id, otherwise its package name) and the device. Throws UnfitEventError if neither id is known.
 */
function appData(event: SentEvent, appId: string | undefined): JsonObject {
  const id = appId ?? textOf(event.context['app_namespace']);
  if (id === undefined) throw new UnfitEventError('an app event needs the app id');
  // Apple does not permit tracking before the person decides; Google does.
  const { platform, allowsTracking = platform !== 'ios' } = deviceOf(event);
  return {
    app_id: id,
    advertiser_tracking_enabled: allowsTracking ? 1 : 0,
    extinfo: extendedDeviceInfo(event),
  };
}

function userData(event: SentEvent): JsonObject {
  const person = hashPerson(knownPerson(event));
  const { ip, userAgent } = browserContext(event);
  const hasBrowser = ip !== undefined && userAgent !== undefined;
  const { advertisingId, vendorId } = deviceOf(event);
  if (person.email === undefined && person.phone === undefined && !hasBrowser && advertisingId === undefined) {
    throw new UnfitEventError(
      'Snap needs an e-mail address, a phone number, an advertising id, or both an IP address and a User-Agent',
    );
  }
  return {
    ...present({
      em: listOf(person.email),
      ph: listOf(person.phone),
      fn: person.firstName,
      ln: person.lastName,
      ge: person.gender,
      db: person.dateOfBirth,
      ct: person.city,
      st: person.state,
      zp: person.zip,
      country: person.country,
      external_id: listOf(hashedMatchingId(event)),
      madid: advertisingId,
      idfv: vendorId,
      client_ip_address: ip,
      client_user_agent: userAgent,
      sc_click_id: browserId(event, ['ScCid', 'sccid', 'sc_click_id']),
      sc_cookie1: browserId(event, ['sc_cookie1', '_scid']),
    }),
  };
}

/** The categories of the event's products, otherwise the event's own category. */
function categoriesOf(event: SentEvent, items: readonly CommerceItem[]): readonly string[] {
  const ofItems = items.flatMap(({ category }) => category ?? []);
  if (ofItems.length > 0) return ofItems;
  return listOf(textOf(event.properties['content_category']) ?? textOf(event.properties['category'])) ?? [];
}

function customData(event: SentEvent): JsonObject | undefined {
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  return present({
    value,
    currency,
    order_id: orderId,
    content_ids: itemIds,
    content_category: categoriesOf(event, items),
    contents: items.map(({ id, brand, price, quantity }) => ({ id, quantity, item_price: price, brand })),
    num_items: itemCount,
    search_string: searchText,
    ...ownParameters(event, parameters),
  });
}

/** Snap parameters that are sent in custom data with their original names. */
const parameters = [
  'sign_up_method',
  'delivery_category',
  'customer_status',
  'description',
  'event_tag',
  'status',
] as const;
