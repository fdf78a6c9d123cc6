import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { postJson } from '../sdk/http.ts';
import { sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { takesCustomerEvents } from '../sdk/event.ts';
import { choiceSetting, textSetting } from '../sdk/settings.ts';
import { snapchatCustomEvents, snapchatEvent, snapchatName } from './payload.ts';

const standardUrl = 'https://tr.snapchat.com';
const actionSources = ['WEB', 'OFFLINE'] as const;
const unnamedEvents = ['none', ...snapchatCustomEvents] as const;
const batchEventsMax = 2_000;

/**
 * Snapchat Ads, Conversions API version 3: `POST /v3/{pixel}/events`, up to 2,000 events.
 * https://developers.snap.com/api/marketing-api/Conversions-API/UsingTheAPI. The token goes in the address, as published.
 * The event's own id is `event_id`, which deduplicates against the pixel in the browser.
 */
export const snapchatAdsCapi = defineDestination({
  descriptor: {
    id: 'SnapchatAdsCapi',
    label: 'Snapchat Conversions API',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'pixelId',
        label: 'Pixel ID',
        placeholder: '00000000-0000-0000-0000-000000000000',
        sublabel: null,
        required: true,
      },
      {
        type: 'Secret',
        key: 'accessToken',
        label: 'Conversions API token',
        placeholder: '',
        sublabel: 'Long-lived token from Ads Manager, Business Details.',
        required: true,
      },
      {
        type: 'Select',
        key: 'actionSource',
        label: 'Action source',
        options: actionSources.map((value) => ({ label: value, value })),
        sublabel: 'Where events happen.',
        required: null,
        defaultValue: 'WEB',
      },
      {
        type: 'Select',
        key: 'otherEvents',
        label: 'Other events',
        options: unnamedEvents.map((value) => ({ label: value, value })),
        sublabel: 'What events that Snap has no name for are sent as; none leaves them out.',
        required: null,
        defaultValue: 'none',
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: {
    pixelId: '1ec32188-754e-4be2-8e55-c949a984a39f',
    accessToken: 'example',
    actionSource: 'WEB',
    otherEvents: 'CUSTOM_EVENT_1',
  },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const pixel = encodeURIComponent(textSetting(settings, 'pixelId').trim());
  const token = encodeURIComponent(textSetting(settings, 'accessToken').trim());
  const url = `${readBaseUrl(settings, standardUrl)}/v3/${pixel}/events?access_token=${token}`;
  const actionSource = choiceSetting(settings, 'actionSource', actionSources, 'WEB');
  const otherEvents = choiceSetting(settings, 'otherEvents', unnamedEvents, 'none');
  const nameOf = ({ name }: SentEvent): string | undefined =>
    snapchatName(name) ?? (otherEvents === 'none' ? undefined : otherEvents);
  return {
    batchEventsMax,
    takes: (event) => takesCustomerEvents(event) && nameOf(sentEvent(event)) !== undefined,
    buildRequest(events, nowMs) {
      const data = events.map((outbound) => {
        const event = sentEvent(outbound);
        const name = nameOf(event);
        if (name === undefined) throw new UnfitEventError('Snap has no name for the event');
        return snapchatEvent(event, name, actionSource, nowMs);
      });
      return postJson({ url, body: { data }, events });
    },
  };
}
