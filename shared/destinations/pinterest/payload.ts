import { normaliseGender, normaliseText, normaliseZip } from '../../routing/modifications/personal-data.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { ownParameters } from '../sdk/own-properties.ts';
import { hashDatum, hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

/**
 * An event of Pinterest's API for Conversions; event types: https://developers.pinterest.com/docs/conversions/event/.
 * Besides those, names in `ownEvents` (types that the advertiser defined) and mapped names in Pinterest's form (lower
 * case, underscores) are sent; all other names become `custom`. Throws UnfitEventError if the event lacks the
 * identifiers that the API requires.
 */
export function pinterestEvent(event: SentEvent, source: PinterestSource, ownEvents: ReadonlySet<string>): JsonObject {
  const actionSource = actionSourceOf(event, source.actionSource);
  const isApp = actionSource.startsWith('app_');
  const isOwn = ownEvents.has(event.name) || (event.isRenamed && pinterestName.test(event.name));
  return {
    event_name: standardName(event) ?? (isOwn ? event.name : 'custom'),
    action_source: actionSource,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    event_source_url: isApp ? undefined : browserContext(event).url,
    opt_out: isLimited(event) || deviceOf(event).allowsTracking === false ? true : undefined,
    advertiser_tracking_enabled: deviceOf(event).allowsTracking,
    user_data: userData(event),
    custom_data: customData(event),
    language: languageOf(event),
    ...(isApp ? appOf(event, source.appId) : {}),
  };
}

const pinterestActionSources = ['web', 'offline', 'app_android', 'app_ios'] as const;

/** The destination's action source, and the app id of app events. */
export type PinterestSource = { readonly actionSource: string; readonly appId: string | undefined };

/**
 * The action source that the event names, otherwise the destination's. If the destination's is web, app events still
 * get their app source.
 */
function actionSourceOf(event: SentEvent, standard: string): string {
  const named = namedActionSource(event, pinterestActionSources);
  if (named !== undefined) return named;
  const { platform } = deviceOf(event);
  return standard === 'web' && platform !== undefined && isOfApp(event) ? `app_${platform}` : standard;
}

/** The app and the device of an app event. */
function appOf({ context }: SentEvent, appId: string | undefined): JsonObject {
  return {
    ...present({
      app_id: appId,
      app_name: textOf(context['app_name']),
      app_version: textOf(context['app_version']),
      device_brand: textOf(context['device_manufacturer']),
      device_model: textOf(context['device_model']),
      device_type: textOf(context['device_type']),
      device_carrier: textOf(context['network_carrier']),
      wifi: typeof context['network_wifi'] === 'boolean' ? context['network_wifi'] : undefined,
      os_version: textOf(context['os_version']),
    }),
  };
}

/** The language of the visitor's locale, as an ISO 639-1 code. */
function languageOf({ context }: SentEvent): string | undefined {
  const locale = textOf(context['locale']) ?? textOf(context['browser_language']);
  return locale === undefined ? undefined : /^[a-z]{2}(?=$|[-_])/i.exec(locale)?.[0].toLowerCase();
}

/** The form of Pinterest's event types. */
export const pinterestName = /^[a-z][a-z0-9_]{0,63}$/;

const standardName = platformEventNames('Pinterest');

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const maid = hashDatum(deviceOf(event).advertisingId, normaliseText);
  if (hashed.email === undefined && maid === undefined && (ip === undefined || userAgent === undefined)) {
    throw new UnfitEventError(
      'Pinterest needs an e-mail address, an advertising id, or both an IP address and a User-Agent',
    );
  }
  return {
    ...present({
      em: listOf(hashed.email),
      ph: listOf(hashed.phone),
      ge: listOf(hashDatum(person.gender, pinterestGender)),
      db: listOf(hashed.dateOfBirth),
      // Pinterest's hashes of names include punctuation.
      ln: listOf(hashDatum(person.lastName, normaliseText)),
      fn: listOf(hashDatum(person.firstName, normaliseText)),
      ct: listOf(hashed.city),
      st: listOf(hashed.state),
      zp: listOf(hashDatum(person.zip, pinterestZip)),
      country: listOf(hashed.country),
      external_id: listOf(hashedMatchingId(event)),
      hashed_maids: listOf(maid),
      click_id: browserId(event, ['epik', '_epik', 'clickId']),
      partner_id: browserId(event, ['partner_id', 'partnerId']),
      client_ip_address: ip,
      client_user_agent: userAgent,
    }),
  };
}

/** The gender as `f`, `m` or, for people who are neither, `n`. */
function pinterestGender(text: string): string | undefined {
  return /^\s*(n|non[\s_-]?binary)\s*$/i.test(text) ? 'n' : normaliseGender(text);
}

/**
 * The postal code; undefined if it has letters, as in the United Kingdom and Canada, because Pinterest matches only
 * numeric postal codes.
 */
function pinterestZip(text: string): string | undefined {
  const zip = normaliseZip(text);
  return /^\d+$/.test(zip) ? zip : undefined;
}

/** Custom data. Amounts are texts, which Pinterest parses as numbers; LDP is Pinterest's limited data processing. */
function customData(event: SentEvent): JsonObject | undefined {
  const said = ownParameters(event, parameters);
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  return present({
    currency,
    value: value?.toString(),
    content_ids: itemIds,
    ...said,
    content_category: said.content_category ?? textOf(event.properties['category']),
    predicted_ltv: said.predicted_ltv?.toString(),
    contents: items.map(({ id, name, category, brand, price, quantity, others }) => ({
      id,
      item_name: name,
      item_category: category,
      item_brand: brand,
      item_brand_id: textForm(others['item_brand_id']) ?? textForm(others['brand_id']),
      item_price: price?.toString(),
      quantity,
    })),
    num_items: itemCount,
    order_id: orderId,
    search_string: searchText,
    opt_out_type: isLimited(event) ? 'LDP' : said.opt_out_type,
  });
}

/** Pinterest parameters that are sent in custom data with their original names. */
const parameters = [
  'content_name',
  'content_category',
  'content_brand',
  'predicted_ltv',
  'np',
  'opt_out_type',
] as const;
