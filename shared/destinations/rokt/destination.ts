import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { deviceOf } from '../sdk/device.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { e164Of, hashDatum, hashPerson, knownPerson } from '../sdk/person.ts';
import { baseUrl, batchSize, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

/** The key in `integration_attributes` under which Rokt's own integration sends the click id. */
const roktIntegration = '1277';

const settings = {
  apiKey: requiredText({ label: 'API key', sublabel: 'From your Rokt account manager.', example: 'us1-example' }),
  apiSecret: token({ label: 'API secret', sublabel: 'Next to the key.', example: 'example-secret' }),
  batchSize: batchSize({ max: 100, fallback: 100 }),
  ...adSettings,
  baseUrl: baseUrl('https://inbound.mparticle.com'),
};

/**
 * Rokt, conversions through its event platform: `POST /s2s/v2/bulkevents`, up to 100 people, answered with 202, as
 * Rokt's own integration in https://github.com/segmentio/action-destinations (destinations/rokt-capi) sends them, in
 * the format of https://docs.mparticle.com/developers/apis/http/, hashed by
 * https://docs.rokt.com/developers/integration-guides/data-and-security/hash-identifiers. An event is matched by the Rokt click id (`rtid`,
 * `rokt_tracking_id`, `rclid`), the customer's id or the SHA-256 of the e-mail address. The event id is
 * `source_message_id`, by which Rokt deduplicates.
 */
export const rokt = defineDestination({
  id: 'Rokt',
  label: 'Rokt conversions',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 100 },
    deduplicatesBy: 'source_message_id',
    errors: 'status of the whole request',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/rokt-capi',
      'https://docs.mparticle.com/developers/apis/http/',
      'https://docs.rokt.com/developers/integration-guides/data-and-security/hash-identifiers',
    ],
    checked: '2026-11-29',
    version: { name: 'v2', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).roktPlatform,
  exampleSuccess: { status: 202, body: '' },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/s2s/v2/bulkevents`;
  const headers = { authorization: basicAuthorization(given.apiKey.trim(), given.apiSecret) };
  return {
    batchEventsMax: given.batchSize,
    accepts: acceptsUnlimitedEvents,
    buildRequest: (events) =>
      postJson({ url, headers, body: events.map((event) => batchOf(sentEvent(event, given))), events }),
  };
}

function batchOf(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const click = browserId(event, ['rtid', 'rokt_tracking_id', 'rclid']);
  // `other` contains the hashed e-mail address, `other2` the click id.
  const identities = present({ other: hashed.email, customerid: person.externalId, other2: click });
  const { platform, advertisingId, vendorId } = deviceOf(event);
  const device = present({
    ios_advertising_id: platform === 'ios' ? advertisingId : undefined,
    android_advertising_id: platform === 'android' ? advertisingId : undefined,
    ios_idfv: vendorId,
  });
  if (identities === undefined && device === undefined) {
    throw new UnfitEventError('Rokt needs an e-mail address, an external id, a click id (rtid) or a device id');
  }
  return {
    environment: 'production',
    user_identities: identities ?? {},
    user_attributes: {
      ...present({
        firstnamesha256: hashDatum(person.firstName, withoutSpaces),
        lastnamesha256: hashDatum(person.lastName, withoutSpaces),
        mobilesha256: hashDatum(person.phone, (phone) => tenDigits(e164Of(person)(phone))),
        billingzipsha256: hashed.zip,
      }),
    },
    device_info: { ...device, ...present({ http_header_user_agent: userAgent }) },
    ...present({
      ip,
      integration_attributes:
        click === undefined ? undefined : { [roktIntegration]: { passbackconversiontrackingid: click } },
    }),
    events: [conversion(event)],
  };
}

const withoutSpaces = (name: string): string => name.toLowerCase().replaceAll(/\s/g, '');

/** A North American number without country code; Rokt documents no form of other numbers. */
const tenDigits = (phone: string | undefined): string | undefined => /^\+1(\d{10})$/.exec(phone ?? '')?.[1];

function conversion(event: SentEvent): JsonObject {
  const { deduplicationId: id, name, timeMs } = event;
  const { value, currency, orderId } = commerceOf(event);
  return {
    event_type: 'custom_event',
    data: {
      custom_event_type: 'transaction',
      event_name: 'conversion',
      source_message_id: id,
      timestamp_unixtime_ms: timeMs,
      custom_attributes: {
        conversiontype: name,
        confirmationref: orderId ?? id,
        ...present({ amount: value, currency: value === undefined ? undefined : currency }),
      },
    },
  };
}
