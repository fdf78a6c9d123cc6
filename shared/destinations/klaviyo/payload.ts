import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { propertiesOf, saidTraitsOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { integrationOptions } from '../sdk/integration-options.ts';
import { present, withoutMembers } from '../sdk/json.ts';
import type { ContactIds } from '../sdk/person.ts';
import { nameIn } from '../sdk/person-name.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { pushDevice } from '../sdk/push-device.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import type { Subscription } from '../sdk/subscriptions.ts';

const metricNameCharactersMax = 127;
/** Age in ms above which an event is sent as backfill. */
const backfillMs = 86_400_000;

/** Traits that fill a profile's own fields, and are therefore not sent as custom properties. */
const profileFields: ReadonlySet<string> = new Set([
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'company_name',
  'organization',
  'job_title',
  'city',
  'state',
  'zip',
  'country',
]);

const klaviyoName = platformEventNames('Klaviyo');

/** Which metric names are sent: Klaviyo's own for common shop events, or the events' names as received. */
export type MetricNames = 'klaviyo' | 'own';

/** The resource of `POST /api/events`. */
export function klaviyoEvent(
  sent: SentEvent,
  event: OutboundEvent,
  ids: ContactIds,
  { metricNames, nowMs }: { readonly metricNames: MetricNames; readonly nowMs: number },
): JsonObject {
  const properties = propertiesOf(event);
  const { value, currency } = commerceOf({ ...sent, properties });
  const name = (metricNames === 'klaviyo' ? klaviyoName(sent) : undefined) ?? sent.name;
  return {
    type: 'event',
    attributes: {
      properties,
      time: new Date(sent.timeMs).toISOString(),
      value,
      value_currency: value === undefined ? undefined : currency,
      unique_id: sent.id,
      // A late event, from a replay or an import, must not trigger a flow.
      backfill: isHistory(sent, nowMs) ? true : undefined,
      metric: metricOf(name),
      profile: { data: { type: 'profile', attributes: identifiers(ids) } },
    },
  };
}

const isHistory = ({ timeMs }: SentEvent, nowMs: number): boolean => nowMs - timeMs > backfillMs;

const metricOf = (name: string): JsonObject => ({
  data: { type: 'metric', attributes: { name: name.slice(0, metricNameCharactersMax) } },
});

const productsMax = 1_000;

/**
 * The resource of `POST /api/event-bulk-create-jobs` with an event `Ordered Product` for each product of an order.
 * Undefined if the event is not an order or has no products.
 */
export function orderedProducts(
  sent: SentEvent,
  event: OutboundEvent,
  ids: ContactIds,
  nowMs: number,
): JsonObject | undefined {
  if (sent.isRenamed || standardEventOf(sent.name) !== 'purchase') return undefined;
  const properties = propertiesOf(event);
  const { items, orderId, currency } = commerceOf({ ...sent, properties });
  if (items.length === 0) return undefined;
  const time = new Date(sent.timeMs).toISOString();
  const events = items.slice(0, productsMax).map((item, index) => ({
    type: 'event',
    attributes: {
      metric: metricOf('Ordered Product'),
      properties: present({
        OrderId: orderId,
        ProductID: item.id,
        ProductName: item.name,
        Quantity: item.quantity,
        ItemPrice: item.price,
        ProductURL: item.url,
        ImageURL: item.imageUrl,
        ProductCategories: item.category === undefined ? undefined : [item.category],
        ProductBrand: item.brand,
        Variant: item.variant,
        ...item.others,
      }),
      time,
      value: item.price === undefined ? undefined : Math.round(item.price * item.quantity * 10_000) / 10_000,
      value_currency: item.price === undefined ? undefined : currency,
      unique_id: `${sent.id}-${index + 1}`,
    },
  }));
  const profile = { data: { type: 'profile', attributes: identifiers(ids) } };
  const backfill = isHistory(sent, nowMs) ? true : undefined;
  return {
    type: 'event-bulk-create-job',
    attributes: {
      'events-bulk-create': {
        data: [{ type: 'event-bulk-create', attributes: { backfill, profile, events: { data: events } } }],
      },
    },
  };
}

/** The resource of `POST /api/profile-import`. */
export function klaviyoProfile(event: OutboundEvent, ids: ContactIds, appendTraits: readonly string[]): JsonObject {
  const traits = traitsOf(event);
  const patch = patchOf(event, appendTraits);
  const { city, state, zip, country } = traits;
  const name = nameIn(traits);
  return {
    type: 'profile',
    attributes: {
      ...identifiers(ids),
      first_name: name.firstName,
      last_name: name.lastName,
      organization: traits['company_name'] ?? traits['organization'],
      title: traits['job_title'],
      location: present({ address1: streetOf(traits['address']), city, region: state, zip, country }),
      properties: withoutMembers(traits, new Set([...profileFields, ...patch.names])),
    },
    ...(patch.properties === undefined ? {} : { meta: { patch_properties: patch.properties } }),
  };
}

const streetOf = (address: unknown): string | undefined =>
  isJsonObject(address) ? textOf(address['street']) : textOf(address);

/**
 * Which custom properties to append to, remove from or unset, by the settings and the event's Klaviyo options. Only
 * values that this identify carries are added to or removed from lists; earlier ones were applied before.
 */
function patchOf(event: OutboundEvent, appendTraits: readonly string[]) {
  const said = saidTraitsOf(event);
  const options = integrationOptions(sentEvent(event), ['Klaviyo', 'Actions Klaviyo']);
  const listed = (name: string): readonly string[] => {
    const names = options[name];
    return Array.isArray(names) ? names.filter((one) => typeof one === 'string').slice(0, patchedMax) : [];
  };
  const values = (names: readonly string[]): JsonObject | undefined =>
    present(Object.fromEntries(names.map((name) => [name, said[name]])));
  const append = [...new Set([...appendTraits, ...listed('fieldsToAppend')])];
  const [unappend, unset] = [listed('fieldsToUnappend'), listed('fieldsToUnset')];
  return {
    names: [...append, ...unappend, ...unset],
    properties: present({
      append: values(append),
      unappend: values(unappend),
      unset: unset.length === 0 ? undefined : unset,
    }),
  };
}

const patchedMax = 100;

/** What a subscription depends on besides the event: list, source of the consent, current time in ms. */
export type SubscriptionOrigin = {
  readonly listId: string | undefined;
  readonly source: string;
  readonly nowMs: number;
};

/**
 * The resource of a job that subscribes or unsubscribes a profile. If the event is late, its own time is the time of
 * consent, otherwise the time of the job. Throws UnfitEventError if the profile has no address for any of the channels.
 */
export function klaviyoSubscription(
  { action, channels }: Subscription,
  sent: SentEvent,
  { email, phone }: ContactIds,
  { listId, source, nowMs }: SubscriptionOrigin,
): JsonObject {
  const consent = action === 'subscribe' ? 'SUBSCRIBED' : 'UNSUBSCRIBED';
  const history = action === 'subscribe' && isHistory(sent, nowMs);
  const marketing = { consent, ...(history ? { consented_at: new Date(sent.timeMs).toISOString() } : {}) };
  const address = {
    email: channels.includes('email') ? email : undefined,
    sms: channels.includes('sms') ? phone : undefined,
  };
  const subscriptions = present({
    email: address.email === undefined ? undefined : { marketing },
    sms: address.sms === undefined ? undefined : { marketing },
  });
  if (subscriptions === undefined) {
    throw new UnfitEventError(`a subscription by ${channels.join(' and ')} needs an address of the visitor`);
  }
  const profile = { ...present({ email: address.email, phone_number: address.sms }), subscriptions };
  const ofSubscribing = action === 'subscribe' ? { custom_source: source, historical_import: history } : {};
  return {
    type: `profile-subscription-bulk-${action === 'subscribe' ? 'create' : 'delete'}-job`,
    attributes: { ...ofSubscribing, profiles: { data: [{ type: 'profile', attributes: profile }] } },
    ...(listId === undefined ? {} : { relationships: { list: { data: { type: 'list', id: listId } } } }),
  };
}

/** The resource of `POST /api/push-tokens`. Undefined if the event registers no device. */
export function klaviyoPushToken(sent: SentEvent, ids: ContactIds): JsonObject | undefined {
  const device = pushDevice(sent);
  if (device === undefined) return undefined;
  const { context } = sent;
  const text = (name: string): string | undefined => textOf(context[name]);
  return {
    type: 'push-token',
    attributes: {
      token: device.token,
      platform: device.platform,
      vendor: device.platform === 'ios' ? 'apns' : 'fcm',
      enablement_status: 'AUTHORIZED',
      background: 'AVAILABLE',
      device_metadata: present({
        device_id: device.deviceId,
        manufacturer: text('device_manufacturer'),
        device_model: text('device_model'),
        os_name: device.platform,
        os_version: text('os_version'),
        app_name: text('app_name'),
        app_version: text('app_version'),
        app_id: text('app_namespace'),
      }),
      profile: { data: { type: 'profile', attributes: identifiers(ids) } },
    },
  };
}

function identifiers({ externalId, email, phone, visitorId }: ContactIds): JsonObject {
  return { external_id: externalId, email, phone_number: phone, anonymous_id: visitorId };
}
