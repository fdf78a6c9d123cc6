import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { baseUrl, batchSize, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { isLimited, placeOf } from '../sdk/limited-data-use.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { deviceOf } from '../sdk/device.ts';
import { integrationOptions } from '../sdk/integration-options.ts';

const customValues = ['td1', 'td2', 'td3', 'td4', 'td5', 'td6', 'td7', 'td8', 'td9', 'td10'];

/** The Trade Desk's names at RudderStack. */
const names = ['THE_TRADE_DESK', 'THE_TRADE_DESK_REAL_TIME_CONVERSIONS'] as const;

const settings = {
  advertiserId: requiredText({ label: 'Advertiser ID', placeholder: 'abc1234', example: 'abc1234' }),
  trackerId: requiredText({
    label: 'Tracking tag ID',
    placeholder: 'xyz5678',
    sublabel: 'The tracking tag of the conversions.',
    example: 'xyz5678',
  }),
  // The Trade Desk publishes no batch limit. Batches are small because one invalid event fails the whole batch.
  batchSize: batchSize({ max: 100, fallback: 10 }),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl('https://insight.adsrvr.org'),
};

/**
 * The Trade Desk, real-time conversion events: `POST /track/realtimeconversion`, without authentication.
 * https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi, as
 * https://github.com/rudderlabs/rudder-transformer (the_trade_desk_real_time_conversions) sends it. An event is
 * matched by an id of The Trade Desk or of the device (`adid` with `adid_type`), by the click (`ttd_click_id`), or by
 * IP address. There is no field for the event time. The Trade Desk deduplicates purchases by `order_id`.
 */
export const theTradeDesk = defineDestination({
  id: 'TheTradeDesk',
  label: 'The Trade Desk real-time conversions',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 100 },
    deduplicatesBy: 'order_id',
    errors: 'status of the whole request',
    limitedUse: "data_processing_option: {policies: ['LDU']} with the US state; an event without a state is skipped",
    sources: [
      'https://github.com/rudderlabs/rudder-transformer',
      'https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: names,
  },
  loadPlatform: async () => (await import('./platform.ts')).theTradeDeskPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/track/realtimeconversion`;
  const source = { adv: given.advertiserId.trim(), tracker_id: given.trackerId.trim() };
  return {
    batchEventsMax: given.batchSize,
    // The Trade Desk's limited use requires a state, so a limited event without a state is skipped.
    accepts: (event) => acceptsCustomerEvents(event) && mayBeSent(sentEvent(event)),
    buildRequest(events) {
      const data = events.map((event) => ({ ...source, ...conversion(sentEvent(event, given)) }));
      return postJson({ url, body: { data }, events });
    },
  };
}

// An event without a standard name is sent under its own name, since The Trade Desk accepts custom names.
const standardName = platformEventNames('TheTradeDesk');

function mayBeSent(event: SentEvent): boolean {
  return !isLimited(event) || placeOf(event).region !== undefined;
}

function conversion(event: SentEvent): JsonObject {
  const { url, ip, userAgent } = browserContext(event);
  const { value, currency, orderId, items } = commerceOf(event);
  const match = present({ ...advertisingId(event), imp: browserId(event, ['ttd_click_id', 'ttdclid']), client_ip: ip });
  if (match === undefined) {
    throw new UnfitEventError('The Trade Desk needs a device id, a click id or an IP address');
  }
  return {
    event_name: standardName(event) ?? event.name,
    ...match,
    ...present({
      privacy_settings: privacySettings(event),
      data_processing_option: isLimited(event) ? { policies: ['LDU'], region: placeOf(event).region } : undefined,
      user_agent: userAgent,
      referrer_url: url,
      value,
      currency,
      order_id: orderId,
      items: items.map(({ id, name, category, price, quantity }) => ({
        item_code: id,
        name,
        qty: quantity,
        price,
        cat: category,
      })),
      ...Object.fromEntries(customValues.map((name) => [name, textOf(event.properties[name])])),
    }),
  };
}

/**
 * Consent strings (GDPR and others) in The Trade Desk's form, from the property `privacy_settings`, else from the
 * sender's options.
 */
function privacySettings(event: SentEvent): readonly unknown[] | undefined {
  const given = event.properties['privacy_settings'] ?? integrationOptions(event, names)['privacy_settings'];
  return Array.isArray(given) && given.every(isJsonObject) ? given.slice(0, privacySettingsMax) : undefined;
}

const privacySettingsMax = 10;

/** The types of ids that The Trade Desk matches, each with the names under which events carry it. */
const idTypes: readonly (readonly [string, readonly string[]])[] = [
  ['TDID', ['tdid', 'ttd_tdid']],
  ['UID2', ['uid2', 'uid2_token']],
  ['EUID', ['euid', 'euid_token']],
];

function advertisingId(event: SentEvent): JsonObject {
  for (const [type, names] of idTypes) {
    const id = browserId(event, names);
    if (id !== undefined) return { adid: id, adid_type: type };
  }
  const { platform, advertisingId: id } = deviceOf(event);
  if (id === undefined || platform === undefined) return {};
  return { adid: id, adid_type: platform === 'ios' ? 'IDFA' : 'AAID' };
}
