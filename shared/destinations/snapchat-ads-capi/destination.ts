import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, acceptsCustomerEvents } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { snapAppOf, snapchatCustomEvents, snapchatEvent, snapchatName, snapchatActionSources } from './payload.ts';
import { baseUrl, choice, optionalText, requiredSecret, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://tr.snapchat.com';
const unnamedEvents = ['none', ...snapchatCustomEvents] as const;
const batchEventsMax = 2_000;
const bodyBytesMax = 2_000_000;

const settings = {
  pixelId: requiredText({
    label: 'Pixel ID',
    placeholder: '00000000-0000-0000-0000-000000000000',
    example: '1ec32188-754e-4be2-8e55-c949a984a39f',
  }),
  accessToken: requiredSecret({
    label: 'Conversions API token',
    sublabel: 'A long-lived token from Ads Manager, Business Details.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    options: snapchatActionSources,
    sublabel: 'Where events happen. Phone app events are always MOBILE_APP, also if this is WEB.',
    fallback: 'WEB',
    example: 'WEB',
  }),
  appId: optionalText({
    label: 'Snap app ID',
    placeholder: '00000000-0000-0000-0000-000000000000',
    sublabel: 'App events go to this Snap app. If empty, they go to the pixel, with the package name as the app.',
  }),
  otherEvents: choice({
    label: 'Other events',
    options: unnamedEvents,
    sublabel: 'The custom event for events that Snap has no name for; with none, they are skipped.',
    fallback: 'none',
    example: 'CUSTOM_EVENT_1',
  }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Snapchat Ads, Conversions API version 3: `POST /v3/{pixel}/events`, up to 2,000 events.
 * https://developers.snap.com/api/marketing-api/Conversions-API/UsingTheAPI. The token is sent in the address, as
 * documented. The event id is `event_id`, which deduplicates against the browser pixel. An event with
 * `limited_data_use` is sent with the option LDU.
 */
export const snapchatAdsCapi = defineDestination({
  id: 'SnapchatAdsCapi',
  label: 'Snapchat Conversions API',
  settings,
  facts: {
    sends: 'Events that Snap has a name for, others under one of its five custom names',
    limits: { events: 2_000, ageDays: 37 },
    deduplicatesBy: 'event_id',
    errors: 'status of the whole request',
    limitedUse: "data_processing_options: ['LDU'], with country and state",
    sources: ['https://developers.snap.com/api/marketing-api/Conversions-API/UsingTheAPI'],
    checked: '2026-11-22',
    version: { name: 'v3', ends: undefined },
    namesElsewhere: ['Snapchat Conversions API', 'Snap Conversions Api', 'SNAPCHAT_CONVERSION', 'SNAP_PIXEL'],
  },
  loadPlatform: async () => (await import('./platform.ts')).snapchatPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const token = encodeURIComponent(given.accessToken.trim());
  const { otherEvents } = given;
  const receiverOf = (event: OutboundEvent): string => snapAppOf(sentEvent(event), given) ?? given.pixelId.trim();
  const nameOf = (event: SentEvent): string | undefined =>
    snapchatName(event) ?? (otherEvents === 'none' ? undefined : otherEvents);
  return {
    batchEventsMax,
    accepts: (event) => acceptsCustomerEvents(event) && nameOf(sentEvent(event)) !== undefined,
    groupOf: receiverOf,
    buildRequest(events, nowMs) {
      const [first] = events;
      const receiver = encodeURIComponent(first === undefined ? given.pixelId.trim() : receiverOf(first));
      const url = `${given.baseUrl}/v3/${receiver}/events?access_token=${token}`;
      const data = events.map((outbound) => {
        const event = sentEvent(outbound, given);
        const name = nameOf(event);
        if (name === undefined) throw new UnfitEventError('Snap has no name for the event');
        return snapchatEvent(event, name, given, nowMs);
      });
      return withinBytes(postJson({ url, body: { data }, events }), bodyBytesMax);
    },
  };
}
