import { createHmac, hash } from 'node:crypto';
import type { OAuthNeed } from '../../egress/oauth-grant.ts';
import { missingTarget } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import {
  address,
  choice,
  matching,
  optionalBaseUrl,
  optionalSecret,
  optionalText,
  requiredText,
  SettingError,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const batchEventsMax = 500;
/** Where applications of other Azure clouds get tokens, by the last two labels of the namespace. */
const loginHosts: Readonly<Record<string, string>> = {
  'usgovcloudapi.net': 'login.microsoftonline.us',
  'chinacloudapi.cn': 'login.partner.microsoftonline.cn',
};
/** Event Hubs accepts 1 MB per request; its Basic tier accepts 256 KB, and responds 413 to larger requests. */
const bodyBytesMax = 1_000_000;
const partitionKeyCharactersMax = 128;
const tokenPeriodMs = 30 * 60_000;
const tokenSeconds = 3_600;
const plainText = matching(/^[\x21-\x7e]+$/, 'must be text without spaces or line breaks');

const settings = {
  namespace: address(
    requiredText(
      {
        label: 'Namespace',
        placeholder: 'my-namespace',
        sublabel: 'Namespace name, or the full host name if it does not end in .servicebus.windows.net.',
        example: 'my-namespace',
      },
      matching(
        /^[a-z][a-z0-9-]{4,48}[a-z0-9](\.servicebus\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net))?$/i,
        'must be the name of a namespace',
      ),
    ),
  ),
  eventHub: requiredText(
    { label: 'Event hub', placeholder: 'events', example: 'events' },
    matching(/^[A-Za-z0-9]([\w.-]{0,254}[A-Za-z0-9])?$/, 'must be the name of an event hub'),
  ),
  sharedAccessKeyName: optionalText(
    {
      label: 'Shared access policy',
      placeholder: 'send',
      sublabel: 'A policy with the Send right, with its key. Alternatively, use a Microsoft Entra application.',
      example: 'send',
    },
    plainText,
  ),
  sharedAccessKey: optionalSecret({ label: 'Shared access key', example: 'example-shared-access-key' }, plainText),
  tenantId: optionalText(
    {
      label: 'Tenant ID',
      sublabel: 'From the Microsoft Entra application, which needs the role Azure Event Hubs Data Sender.',
    },
    matching(/^[\w.-]{1,253}$/, 'must be a tenant ID'),
  ),
  clientId: optionalText({ label: 'Client ID' }, plainText),
  clientSecret: optionalSecret({ label: 'Client secret' }),
  partitionBy: choice({
    label: 'Partition',
    options: [
      { label: 'By visitor', value: 'visitor' },
      { label: 'Any', value: 'none' },
    ],
    sublabel:
      'By visitor: keeps each visitor’s order, with one request per visitor. Any: fills requests and keeps no order.',
    fallback: 'visitor',
    example: 'visitor',
  }),
  baseUrl: optionalBaseUrl('https://<namespace>.servicebus.windows.net'),
};

/**
 * Azure Event Hubs: every event with its visitor is one JSON message, with event name and id as message properties.
 * The events of a request share a partition key; if that is the visitor, each request holds events of one visitor.
 * Event Hubs does not deduplicate. https://learn.microsoft.com/en-us/rest/api/eventhub/send-batch-events
 */
export const azureEventHubs = defineDestination({
  id: 'AzureEventHubs',
  label: 'Azure Event Hubs',
  settings,
  exampleSuccess: { status: 201, body: '' },
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: {
      events: batchEventsMax,
      bytes: bodyBytesMax,
      rate: '1,000 events or 1 MB per second for each throughput unit',
    },
    deduplicatesBy: undefined,
    errors: 'status of the whole request',
    sources: [
      'https://learn.microsoft.com/en-us/rest/api/eventhub/send-batch-events',
      'https://learn.microsoft.com/rest/api/eventhub/event-hubs-runtime-rest',
      'https://learn.microsoft.com/rest/api/eventhub/generate-sas-token',
    ],
    checked: '2026-11-27',
    version: { name: '2014-01', ends: undefined },
    namesElsewhere: ['Azure Event Hub', 'AZURE_EVENT_HUB'],
  },
  loadPlatform: async () => (await import('./platform.ts')).eventHubsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { namespace, eventHub, partitionBy, baseUrl } = given;
  const host = namespace.includes('.') ? namespace : `${namespace}.servicebus.windows.net`;
  const access = accessOf(given, host);
  const url = `${baseUrl ?? `https://${host}`}/${eventHub}/messages?api-version=2014-01`;
  const isByVisitor = partitionBy === 'visitor';
  return {
    batchEventsMax,
    ...(isByVisitor ? { groupOf: partitionKey } : {}),
    buildRequest(events, nowMs) {
      const body = events.map((event) => ({
        Body: eventJson(event),
        UserProperties: { event: outboundName(event), event_id: outboundHead(event).id },
        ...(isByVisitor ? { BrokerProperties: { PartitionKey: partitionKey(event) } } : {}),
      }));
      const { oauth, authorization } = access(nowMs);
      const headers = {
        'content-type': 'application/vnd.microsoft.servicebus.json',
        ...(authorization === undefined ? {} : { authorization }),
      };
      const request = postJson({ url, headers, body, events });
      return withinBytes(oauth === undefined ? request : { ...request, oauth }, bodyBytesMax);
    },
    readAnswer: missingTarget,
  };
}

type Access = (nowMs: number) => { readonly authorization?: string; readonly oauth?: OAuthNeed };

/**
 * Access with a shared access key, or else with an application's token. Throws SettingError if settings are missing.
 */
function accessOf(given: SettingsOf<typeof settings>, host: string): Access {
  const { sharedAccessKeyName: keyName, sharedAccessKey: key, tenantId, clientId, clientSecret } = given;
  if (keyName !== undefined || key !== undefined) {
    if (keyName === undefined) throw new SettingError('sharedAccessKeyName', 'is required with a shared access key');
    if (key === undefined) throw new SettingError('sharedAccessKey', 'is required with a shared access policy');
    if (tenantId !== undefined) throw new SettingError('tenantId', 'must be empty if there is a shared access policy');
    const resource = `https://${host}/${given.eventHub}`;
    return (nowMs) => ({ authorization: sharedAccessSignature({ resource, keyName, key }, nowMs) });
  }
  if (tenantId === undefined) throw new SettingError('sharedAccessKeyName', 'is required unless there is a tenant ID');
  if (clientId === undefined) throw new SettingError('clientId', 'is required with a tenant ID');
  if (clientSecret === undefined) throw new SettingError('clientSecret', 'is required with a tenant ID');
  const loginHost = loginHosts[host.toLowerCase().split('.').slice(-2).join('.')] ?? 'login.microsoftonline.com';
  const oauth: OAuthNeed = {
    grant: {
      tokenUrl: `https://${loginHost}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
      by: { kind: 'client-credentials' },
      client: { id: clientId, secret: clientSecret, sentIn: 'body' },
      scope: 'https://eventhubs.azure.net/.default',
    },
  };
  return () => ({ oauth });
}

type SharedAccess = { readonly resource: string; readonly keyName: string; readonly key: string };

/**
 * A token that stays the same for half an hour, and is then valid for at least another half hour.
 * https://learn.microsoft.com/rest/api/eventhub/generate-sas-token
 */
export function sharedAccessSignature({ resource, keyName, key }: SharedAccess, nowMs: number): string {
  const issuedAt = (Math.floor(nowMs / tokenPeriodMs) * tokenPeriodMs) / 1_000;
  const expiresAt = issuedAt + tokenSeconds;
  const encoded = encodeURIComponent(resource);
  const signature = createHmac('sha256', key).update(`${encoded}\n${expiresAt}`, 'utf8').digest('base64');
  return `SharedAccessSignature sr=${encoded}&sig=${encodeURIComponent(signature)}&se=${expiresAt}&skn=${encodeURIComponent(keyName)}`;
}

function partitionKey(event: OutboundEvent): string {
  const { visitorId } = outboundHead(event);
  const fits = visitorId !== '' && visitorId.length <= partitionKeyCharactersMax && visitorId.isWellFormed();
  return fits ? visitorId : hash('sha256', visitorId, 'hex');
}
