import { hash } from 'node:crypto';
import { textForm } from '../../routing/values/value-forms.ts';
import { missingTarget } from '../sdk/answers.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { eventJson, outboundHead, outboundName, propertiesOf } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import {
  baseUrl,
  matching,
  optionalText,
  requiredSecret,
  requiredText,
  SettingError,
  toggle,
} from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { exampleServiceAccount, readServiceAccount } from '../sdk/google-service-account.ts';

const standardUrl = 'https://pubsub.googleapis.com';
const audience = 'https://pubsub.googleapis.com/google.pubsub.v1.Publisher';
const batchEventsMax = 500;
const bodyBytesMax = 10_000_000;
const attributeBytesMax = 1_024;
// Pub/Sub accepts 100 attributes per message, two of which are always the event's name and id.
const attributesMax = 98;
const attributeNameBytesMax = 256;

const settings = {
  topic: requiredText(
    { label: 'Topic', placeholder: 'events', example: 'events' },
    matching(/^[A-Za-z][\w.~+%-]{2,254}$/, 'must be a topic ID'),
  ),
  projectId: optionalText({
    label: 'Project ID',
    placeholder: 'my-project',
    sublabel: "Only needed if the topic is not in the service account's project.",
  }),
  serviceAccountKey: requiredSecret(
    {
      label: 'Service account key',
      placeholder: '{"type": "service_account", …}',
      sublabel: 'The JSON key file. The account needs the role Pub/Sub Publisher on the topic.',
      example: exampleServiceAccount,
    },
    (text, key) => readServiceAccount(text, key, audience),
  ),
  attributeProperties: optionalText(
    {
      label: 'Properties as attributes',
      placeholder: 'tenant_id, plan',
      sublabel:
        'Properties to add to messages as attributes too, so that subscriptions can filter by them. Names that start with goog are reserved.',
    },
    (text) => text.split(',').flatMap((name) => name.trim() || []),
  ),
  orderByVisitor: toggle({
    label: 'Order by visitor',
    sublabel: 'Uses the visitor as the ordering key of every message.',
  }),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Google Cloud Pub/Sub: every event with its visitor is one JSON message, whose attributes have the event's name and id
 * for filters. A request may contain only one ordering key, so ordered messages need one request per visitor.
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish
 */
export const googlePubSub = defineDestination({
  id: 'GooglePubSub',
  label: 'Google Cloud Pub/Sub',
  settings,
  facts: {
    sends: 'Every event with its visitor, as JSON',
    limits: { events: 1_000, bytes: 10_000_000 },
    deduplicatesBy: undefined,
    errors: 'status of the whole request',
    sources: ['https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish'],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
    namesElsewhere: ['Google Cloud PubSub'],
  },
  loadPlatform: async () => (await import('./platform.ts')).pubSubPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { topic, serviceAccountKey: account, orderByVisitor: isOrdered } = given;
  const projectId = given.projectId ?? account.projectId;
  if (projectId === undefined || !/^[a-z0-9][a-z0-9.:-]{3,61}$/.test(projectId)) {
    throw new SettingError('projectId', 'must be a project ID');
  }
  const url = `${given.baseUrl}/v1/projects/${projectId}/topics/${encodeURIComponent(topic)}:publish`;
  return {
    batchEventsMax,
    ...(isOrdered ? { groupOf: orderingKey } : {}),
    buildRequest(events, nowMs) {
      const messages = events.map((event) => ({
        data: Buffer.from(eventJson(event), 'utf8').toString('base64'),
        attributes: attributesOf(event, given.attributeProperties ?? []),
        ...(isOrdered ? { orderingKey: orderingKey(event) } : {}),
      }));
      const headers = { authorization: `Bearer ${account.token(nowMs)}` };
      return withinBytes(postJson({ url, headers, body: { messages }, events }), bodyBytesMax);
    },
    readAnswer: missingTarget,
  };
}

function orderingKey(event: OutboundEvent): string {
  return withinAttribute(outboundHead(event).visitorId);
}

function attributesOf(event: OutboundEvent, names: readonly string[]): Readonly<Record<string, string>> {
  const properties = names.length === 0 ? {} : propertiesOf(event);
  const own = names.slice(0, attributesMax).flatMap((name) => {
    const text = textForm(properties[name]);
    const isName = Buffer.byteLength(name) <= attributeNameBytesMax && !/^goog/i.test(name);
    return text === undefined || !isName ? [] : [[name, withinAttribute(text)] as const];
  });
  return {
    ...Object.fromEntries(own),
    event: withinAttribute(outboundName(event)),
    event_id: withinAttribute(outboundHead(event).id),
  };
}

/** The text if it fits into an attribute, else its hash, because a truncated name or id could match another one. */
function withinAttribute(text: string): string {
  const fits = Buffer.byteLength(text) <= attributeBytesMax && text.isWellFormed();
  return fits ? text : hash('sha256', text, 'hex');
}
