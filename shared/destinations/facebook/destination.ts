import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { defineDestination, SettingError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { facebookOutcome } from './errors.ts';
import { facebookActionSources, facebookEvent } from './payload.ts';
import { postJson } from '../sdk/http.ts';
import { sentEvent } from '../sdk/event.ts';
import { takesCustomerEvents } from '../sdk/event.ts';
import { choiceSetting, optionalTextSetting, textSetting } from '../sdk/settings.ts';
import { tokenSetting } from '../sdk/settings.ts';

const standardUrl = 'https://graph.facebook.com';
const standardVersion = 'v25.0';
const batchEventsMax = 1_000;

/**
 * Facebook and Instagram, Conversions API of Meta: `POST /{version}/{pixel}/events` of the Graph API.
 * https://developers.facebook.com/docs/marketing-api/conversions-api/using-the-api, with the parameters of
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters. The event's own id is `event_id`, which
 * deduplicates against the pixel in the browser.
 */
export const facebook = defineDestination({
  descriptor: {
    id: 'Facebook',
    label: 'Facebook Conversions API',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      {
        type: 'Text',
        key: 'pixelId',
        label: 'Pixel ID',
        placeholder: '1234567890',
        sublabel: 'Of the pixel or dataset, from Events Manager.',
        required: true,
      },
      {
        type: 'Secret',
        key: 'accessToken',
        label: 'Access token',
        placeholder: '',
        sublabel: 'Generated in Events Manager, Settings, Conversions API.',
        required: true,
      },
      {
        type: 'Select',
        key: 'actionSource',
        label: 'Action source',
        options: facebookActionSources.map((value) => ({ label: value, value })),
        sublabel: 'Where events happen, unless an event says so in its property action_source.',
        required: null,
        defaultValue: 'website',
      },
      {
        type: 'Text',
        key: 'testEventCode',
        label: 'Test event code',
        placeholder: 'TEST12345',
        sublabel: 'While it is set events appear in the Test Events tool.',
        required: null,
      },
      {
        type: 'Text',
        key: 'apiVersion',
        label: 'API version',
        placeholder: standardVersion,
        sublabel: null,
        required: null,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  exampleSettings: { pixelId: '1234567890', accessToken: 'example', actionSource: 'website', apiVersion: 'v25.0' },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const pixelId = encodeURIComponent(textSetting(settings, 'pixelId').trim());
  const version = optionalTextSetting(settings, 'apiVersion') ?? standardVersion;
  if (!/^v\d{1,3}\.\d$/.test(version))
    throw new SettingError('apiVersion', `must be a version like ${standardVersion}`);
  const url = `${readBaseUrl(settings, standardUrl)}/${version}/${pixelId}/events`;
  const headers = { authorization: `Bearer ${tokenSetting(settings, 'accessToken')}` };
  const actionSource = choiceSetting(settings, 'actionSource', facebookActionSources, 'website');
  const testEventCode = optionalTextSetting(settings, 'testEventCode');
  return {
    batchEventsMax,
    takes: takesCustomerEvents,
    buildRequest(events, nowMs) {
      const data = events.map((event) => facebookEvent(sentEvent(event), actionSource, nowMs));
      return postJson({ url, headers, body: { data, test_event_code: testEventCode }, events });
    },
    readAnswer(answer, events) {
      const outcome = answer.status < 300 ? undefined : facebookOutcome(answer);
      return outcome === undefined ? undefined : events.map(() => outcome);
    },
  };
}
