import type { JsonObject } from '../../runtime/json.ts';
import type { Pair } from '../sdk/setting-lists.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { checkAge, numberOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present } from '../sdk/json.ts';
import { isLimited, placeOf } from '../sdk/limited-data-use.ts';
import { hashDatum, knownPerson, e164Of, matchingId, normaliseEmail } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

const daysMax = 7;
export const redditActionSources = ['WEBSITE', 'APP', 'PHYSICAL_STORE', 'OTHER'] as const;

export const redditTrackingType =
  /^(PAGE_VISIT|VIEW_CONTENT|SEARCH|ADD_TO_CART|ADD_TO_WISHLIST|PURCHASE|LEAD|SIGN_UP|CUSTOM)$/;

type RedditSettings = { readonly actionSource: string; readonly eventTypes: readonly Pair[] };

/**
 * An event of Reddit's Conversions API version 3,
 * https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events, once for each tracking type that the
 * settings assign to its name, or once if they assign none. Throws UnfitEventError if the event is too old or has no
 * identifier for Reddit.
 */
export function redditEvents(event: SentEvent, settings: RedditSettings, nowMs: number): readonly JsonObject[] {
  const name = event.name.trim().toLowerCase();
  const own = settings.eventTypes.flatMap(([of, type]) => (of.toLowerCase() === name ? [type] : []));
  const types = own.length > 0 ? [...new Set(own)] : [standardName(event)];
  return types.map((type) => redditEvent(event, type === 'CUSTOM' ? undefined : type, settings.actionSource, nowMs));
}

function redditEvent(event: SentEvent, type: string | undefined, standardSource: string, nowMs: number): JsonObject {
  const ofDestination = standardSource === 'WEBSITE' && isOfApp(event) ? 'APP' : standardSource;
  const actionSource = namedActionSource(event, redditActionSources) ?? ofDestination;
  checkAge(event, nowMs, daysMax);
  const click = browserId(event, ['rdt_cid']);
  return {
    event_at: event.timeMs,
    action_source: actionSource,
    event_source_url: actionSource === 'WEBSITE' ? browserContext(event).url : undefined,
    click_id: click,
    type: type === undefined ? { tracking_type: 'CUSTOM', custom_event_name: event.name } : { tracking_type: type },
    user: user(event, click !== undefined),
    metadata: metadata(event),
  };
}

const standardName = platformEventNames('Reddit');

/**
 * Match keys, hashed (also the IP address) as https://business.reddithelp.com describes. Throws UnfitEventError if
 * there are no match keys and no click id, because User-Agent and screen size alone match no person.
 */
function user(event: SentEvent, hasClick: boolean): JsonObject | undefined {
  const person = knownPerson(event);
  const { email, phone } = person;
  const { platform, advertisingId } = deviceOf(event);
  const { ip, userAgent } = browserContext(event);
  const trim = (text: string): string => text.trim();
  const keys = present({
    email: hashDatum(email, canonicalEmail),
    phone_number: hashDatum(phone, e164Of(person)),
    external_id: hashDatum(matchingId(event), trim),
    idfa: hashDatum(platform === 'ios' ? advertisingId : undefined, trim),
    aaid: hashDatum(platform === 'android' ? advertisingId : undefined, trim),
    ip_address: hashDatum(ip, trim),
    uuid: browserId(event, ['rdt_uuid', '_rdt_uuid']),
  });
  if (keys === undefined && !hasClick) {
    throw new UnfitEventError('the event has no identifier that Reddit could match');
  }
  return present({
    ...keys,
    user_agent: userAgent,
    screen_dimensions: screen(event),
    data_processing_options: isLimited(event) ? { modes: ['LDU'], ...present(placeOf(event)) } : undefined,
  });
}

function screen({ context }: SentEvent): JsonObject | undefined {
  const [width, height] = [numberOf(context['screen_width']), numberOf(context['screen_height'])];
  return width === undefined || height === undefined ? undefined : { width, height };
}

/**
 * The address without its plus suffix, and with only letters and digits before the @: `Al.ice$+Apple@Example.Com`
 * becomes `alice@example.com`.
 */
function canonicalEmail(text: string): string | undefined {
  const email = normaliseEmail(text);
  if (email === undefined) return undefined;
  const at = email.lastIndexOf('@');
  const user = email
    .slice(0, at)
    .replace(/\+.*$/, '')
    .replaceAll(/[^a-z0-9]/g, '');
  return user === '' ? undefined : user + email.slice(at);
}

function metadata(event: SentEvent): JsonObject {
  const { value, currency, items, itemCount } = commerceOf(event);
  return {
    conversion_id: event.deduplicationId,
    ...present({
      value,
      currency,
      item_count: itemCount,
      products: items.map(({ id, name, category, price, quantity }) => ({
        id,
        name,
        category,
        item_price: price,
        quantity,
      })),
    }),
  };
}
