import { hash } from 'node:crypto';
import type { JsonObject } from '../../process/json.ts';
import { baseUrlSetting, readBaseUrl } from '../sdk/settings.ts';
import { withinBytes } from '../sdk/http.ts';
import { defineDestination, SettingError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { eventJson } from '../sdk/event.ts';
import { exampleServiceAccount, readServiceAccount } from './service-account.ts';
import { outboundHead, outboundName } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { optionalTextSetting, textSetting } from '../sdk/settings.ts';

const standardUrl = 'https://pubsub.googleapis.com';
const audience = 'https://pubsub.googleapis.com/google.pubsub.v1.Publisher';
const batchEventsMax = 500;
const bodyBytesMax = 10_000_000;
const attributeBytesMax = 1_024;

/**
 * Google Cloud Pub/Sub: every event with its visitor as one message of JSON, its name and id as attributes for filters.
 * Messages with an ordering key may only travel with those of the same key, so ordered ones go in a request a visitor.
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish
 */
export const googlePubSub = defineDestination({
  descriptor: {
    id: 'GooglePubSub',
    label: 'Google Cloud Pub/Sub',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: true },
    settings: [
      { type: 'Text', key: 'topic', label: 'Topic', placeholder: 'events', sublabel: null, required: true },
      {
        type: 'Text',
        key: 'projectId',
        label: 'Project id',
        placeholder: 'my-project',
        sublabel: 'Only where the topic is not in the project of the service account.',
        required: null,
      },
      {
        type: 'Secret',
        key: 'serviceAccountKey',
        label: 'Service account key',
        placeholder: '{"type": "service_account", …}',
        sublabel: 'The JSON key file. The account needs the role Pub/Sub Publisher on the topic.',
        required: true,
      },
      {
        type: 'Switch',
        key: 'orderByVisitor',
        label: 'Order by visitor',
        sublabel: 'Gives every message its visitor as ordering key.',
        required: null,
        defaultValue: false,
      },
      baseUrlSetting(standardUrl),
    ],
  },
  get exampleSettings() {
    return { topic: 'events', serviceAccountKey: exampleServiceAccount(), orderByVisitor: false };
  },
  prepare,
});

function prepare(settings: JsonObject): PreparedDestination {
  const topic = textSetting(settings, 'topic');
  if (!/^[A-Za-z][\w.~+%-]{2,254}$/.test(topic)) throw new SettingError('topic', 'must be the id of a topic');
  const account = readServiceAccount(settings, 'serviceAccountKey', audience);
  const projectId = optionalTextSetting(settings, 'projectId') ?? account.projectId;
  if (projectId === undefined || !/^[a-z0-9][a-z0-9.:-]{3,61}$/.test(projectId)) {
    throw new SettingError('projectId', 'must be the id of a project');
  }
  const isOrdered = settings['orderByVisitor'] === true;
  const base = readBaseUrl(settings, standardUrl);
  const url = `${base}/v1/projects/${projectId}/topics/${encodeURIComponent(topic)}:publish`;
  return {
    batchEventsMax,
    ...(isOrdered ? { groupOf: orderingKey } : {}),
    buildRequest(events, nowMs) {
      const messages = events.map((event) => ({
        data: Buffer.from(eventJson(event), 'utf8').toString('base64'),
        attributes: attributesOf(event),
        ...(isOrdered ? { orderingKey: orderingKey(event) } : {}),
      }));
      const headers = { authorization: `Bearer ${account.token(nowMs)}` };
      return withinBytes(postJson({ url, headers, body: { messages }, events }), bodyBytesMax);
    },
  };
}

function orderingKey(event: OutboundEvent): string {
  return withinAttribute(outboundHead(event).visitorId);
}

function attributesOf(event: OutboundEvent): Readonly<Record<string, string>> {
  return {
    event: withinAttribute(outboundName(event)),
    event_id: withinAttribute(outboundHead(event).id),
  };
}

/** Text as it is where it fits, else a hash of it: a part of a name or an id would be another one. */
function withinAttribute(text: string): string {
  const fits = Buffer.byteLength(text) <= attributeBytesMax && text.isWellFormed();
  return fits ? text : hash('sha256', text, 'hex');
}
