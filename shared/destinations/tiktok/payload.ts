import { countryCode } from '../../routing/modifications/countries.ts';
import { normaliseLetters, normaliseState, normaliseText } from '../../routing/modifications/personal-data.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { deviceOf } from '../sdk/device.ts';
import { numberOf, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { listOf, present } from '../sdk/json.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { ownParameters } from '../sdk/own-properties.ts';
import { hashDatum, hashPerson, isHash, knownPerson, e164Of, hashedMatchingId } from '../sdk/person.ts';
import { platformEventNames, platformEvents } from '../sdk/platform-events.ts';
import { createEventNames } from '../sdk/standard-events.ts';
import { tiktokOwnFields } from './own-fields.ts';

/**
 * An event of TikTok's Events API. Standard events: https://ads.tiktok.com/help/article/standard-events-parameters;
 * other names are custom events. Throws UnfitEventError if the event has no identifier that TikTok could match.
 */
export function tiktokEvent(event: SentEvent, source: string): JsonObject {
  if (source === 'app') return appEvent(event);
  const { url, referrer } = browserContext(event);
  const lead = textOf(event.properties['lead_id']);
  return {
    event: standardName(event) ?? event.name,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    user: user(event),
    properties: properties(event) ?? {},
    page: present({ url, referrer }),
    limited_data_use: isLimited(event) ? true : undefined,
    lead: present({ lead_id: lead, lead_event_source: textOf(event.properties['lead_event_source']) }),
  };
}

const standardName = platformEventNames('TikTok');

/** TikTok's names of app events: https://business-api.tiktok.com/portal/docs?id=1771101186666498 */
const appName = createEventNames({
  names: {
    ...platformEvents.TikTok.names,
    startCheckout: 'Checkout',
    signUp: 'Registration',
    login: 'Login',
    lead: 'GenerateLead',
    joinGroup: 'JoinGroup',
    appInstall: 'InstallApp',
    appOpen: 'LaunchAPP',
  },
  others: [
    'AchieveLevel',
    'CompleteTutorial',
    'CreateGroup',
    'CreateRole',
    'InAppADClick',
    'InAppADImpr',
    'LoanApplication',
    'LoanApproval',
    'LoanDisbursal',
    'Rate',
    'SpendCredits',
    'UnlockAchievement',
  ],
});

/** An app event. Throws UnfitEventError if the app is unknown, or if TikTok could match no identifier. */
function appEvent(event: SentEvent): JsonObject {
  const { context } = event;
  const id = textOf(context['app_id']) ?? textOf(context['app_namespace']);
  if (id === undefined) throw new UnfitEventError('an app event needs the app id (context.app.namespace)');
  return {
    event: appName(event) ?? event.name,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    user: { ...user(event), ...deviceUser(event) },
    properties: properties(event) ?? {},
    app: present({ app_id: id, app_name: textOf(context['app_name']), app_version: textOf(context['app_version']) }),
    limited_data_use: isLimited(event) ? true : undefined,
  };
}

function deviceUser(event: SentEvent): JsonObject {
  const { platform, advertisingId, vendorId } = deviceOf(event);
  return {
    ...present({
      idfa: hashDatum(platform === 'ios' ? advertisingId : undefined, normaliseText),
      gaid: hashDatum(platform === 'android' ? advertisingId : undefined, (text) => text.trim()),
      idfv: vendorId,
      att_status: trackingStatus(event),
    }),
  };
}

/** The status of Apple's App Tracking Transparency, which iOS has had since version 14. */
function trackingStatus(event: SentEvent): string {
  const { platform, allowsTracking } = deviceOf(event);
  const version = numberOf(/^\d+/.exec(textForm(event.context['os_version']) ?? '')?.[0]);
  if (platform !== 'ios' || (version !== undefined && version < 14)) return 'NOT_APPLICABLE';
  if (allowsTracking === undefined) return 'NOT_DETERMINED';
  return allowsTracking ? 'AUTHORIZED' : 'DENIED';
}

function user(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const matched = present({
    email: listOf(hashed.email),
    phone: listOf(hashDatum(person.phone, e164Of(person))),
    external_id: listOf(hashedMatchingId(event)),
    ttclid: browserId(event, ['ttclid']),
    ttp: browserId(event, ['ttp', '_ttp']),
    ip,
  });
  if (matched === undefined) throw new UnfitEventError('the event has no identifier that TikTok could match');
  return {
    ...matched,
    ...present({
      user_agent: userAgent,
      locale: textOf(event.context['locale']) ?? textOf(event.context['browser_language']),
      first_name: hashed.firstName,
      last_name: hashed.lastName,
      zip_code: hashed.zip,
      // TikTok expects locations unhashed.
      city: plain(person.city, normaliseLetters),
      state: plain(person.state, normaliseState),
      country: plain(person.country, countryCode),
    }),
  };
}

function properties(event: SentEvent): JsonObject | undefined {
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  const said = ownParameters(event, parameters);
  return present({
    ...tiktokOwnFields(event),
    ...said,
    predicted_ltv: numberOf(event.properties['predicted_ltv']),
    value,
    currency,
    order_id: orderId,
    content_type: said.content_type ?? (items.length > 0 ? 'product' : undefined),
    content_ids: itemIds,
    contents: items.flatMap(({ id, name, category, brand, price, quantity }) =>
      id === undefined
        ? []
        : { content_id: id, content_name: name, content_category: category, brand, price, quantity },
    ),
    num_items: itemCount,
    search_string: searchText,
  });
}

/** TikTok parameters that are sent in the properties with their original names. */
const parameters = [
  'description',
  'query',
  'shop_id',
  'status',
  'content_type',
  'content_name',
  'content_category',
  'delivery_category',
] as const;

function plain(text: string | undefined, normalise: (text: string) => string | undefined): string | undefined {
  if (text === undefined || isHash(text)) return undefined;
  const form = normalise(text);
  return form === '' ? undefined : form;
}
