import { plainCountry } from '../sdk/capi-person.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { isOfApp } from '../sdk/device.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { checkAge, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present } from '../sdk/json.ts';
import { minorUnits } from '../sdk/minor-units.ts';
import { hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { isLimited } from '../sdk/limited-data-use.ts';

export const openaiActionSources = [
  'web',
  'mobile_app',
  'offline',
  'physical_store',
  'phone_call',
  'email',
  'other',
] as const;

const daysMax = 7;
const contentsMax = 100;

/**
 * An event of the OpenAI Ads Conversions API; a name that OpenAI does not define becomes a custom event. Throws
 * UnfitEventError if the event is too old, or happened on the web and has no page.
 */
export function openaiEvent(event: SentEvent, standardSource: string, nowMs: number): JsonObject {
  checkAge(event, nowMs, daysMax);
  const ofApp = standardSource === 'web' && isOfApp(event);
  const actionSource = namedActionSource(event, openaiActionSources) ?? (ofApp ? 'mobile_app' : standardSource);
  const type = standardName(event);
  const { url } = browserContext(event);
  if (actionSource === 'web' && url === undefined) {
    throw new UnfitEventError('OpenAI Ads needs the page address of a web event');
  }
  return {
    id: event.deduplicationId,
    type: type ?? 'custom',
    custom_event_name: type === undefined ? event.name : undefined,
    timestamp_ms: event.timeMs,
    oppref: browserId(event, ['oppref', '__oppref']),
    source_url: actionSource === 'web' ? url : undefined,
    action_source: actionSource,
    user: user(event),
    opt_out: isLimited(event) ? true : undefined,
    data: data(event, type),
  };
}

const standardName = platformEventNames('OpenAIAds');

/** Data types by event type. Event types that are not listed have `contents`; custom events have `custom`. */
const shapes: ReadonlyMap<string, string> = new Map([
  ['app_installed', 'customer_action'],
  ['app_opened', 'customer_action'],
  ['appointment_scheduled', 'customer_action'],
  ['lead_created', 'customer_action'],
  ['registration_completed', 'customer_action'],
  ['subscription_created', 'plan_enrollment'],
  ['trial_started', 'plan_enrollment'],
]);

/**
 * The visitor's data; undefined if there is none, since OpenAI can attribute an event by its `oppref` alone. City and
 * ZIP code are left out because OpenAI accepts them only unhashed.
 */
function user(event: SentEvent): JsonObject | undefined {
  const { email } = hashPerson(knownPerson(event));
  const { ip, userAgent } = browserContext(event);
  return present({
    email_sha256: email,
    external_id_sha256: hashedMatchingId(event),
    country: plainCountry(event),
    ip_address: ip,
    user_agent: userAgent,
  });
}

/** The event's data. Amounts are whole numbers of the currency's smallest unit, and left out without a currency. */
function data(event: SentEvent, type: string | undefined): JsonObject {
  const { properties } = event;
  const { value, currency, items } = commerceOf(event);
  const shape = type === undefined ? 'custom' : (shapes.get(type) ?? 'contents');
  const amountOf = (amount: number | undefined): number | undefined =>
    amount === undefined || currency === undefined ? undefined : minorUnits(amount, currency);
  const contents = items.slice(0, contentsMax).map(({ id, name, price, quantity }) => ({
    id,
    name,
    content_type: textOf(properties['content_type']) ?? 'product',
    quantity,
    amount: amountOf(price),
    currency: amountOf(price) === undefined ? undefined : currency,
  }));
  const amount = amountOf(value);
  return {
    type: shape,
    ...present({ amount, currency: amount === undefined ? undefined : currency }),
    ...(shape === 'contents' ? present({ contents }) : {}),
  };
}
