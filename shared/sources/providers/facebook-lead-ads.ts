import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import { bodySignature } from '../sdk/signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Facebook Lead Ads: notices that a lead is there, several in one request. A notice holds the lead's ids only; who it is
 * has to be asked of the Graph API.
 */
export const facebookLeadAds = defineSourceKind({
  type: 'FacebookLeadAds',
  label: 'Facebook Lead Ads',
  setUp:
    'The app, Webhooks, Page: Callback URL, with the source key as Verify Token; subscribe to `leadgen`, and the page to the app',
  notes:
    'The events are notices, called `leadgen`, with the lead’s id. The lead itself is not fetched: its fields are read where something posts them with the notice as `field_data`.',
  follows: [
    'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    'https://developers.facebook.com/docs/graph-api/webhooks/getting-started/webhooks-for-leadgen',
  ],
  signature: bodySignature({
    header: 'X-Hub-Signature-256',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    secretName: 'App secret',
  }),
  challenge: { token: 'hub.verify_token', answer: 'hub.challenge' },
  split: changesOf,
  table: {
    name: ['field'],
    id: ['value.leadgen_id', 'field'],
    time: ['value.created_time', 'time'],
  },
  fields: ({ value }) => (isJsonObject(value) ? answersOf(value['field_data']) : []),
});

/** Each change of each entry, with the page's id and the time of its entry. */
function changesOf(body: unknown): readonly unknown[] {
  const entries = isJsonObject(body) ? objectsOf(body['entry']) : [];
  const changes = entries.flatMap(({ id, time, changes: listed }) =>
    objectsOf(listed).map((change) => ({ page_id: id, time, ...change })),
  );
  return changes.length === 0 ? [body] : changes;
}

/** A lead's answers: `[{name, values}]`. */
function answersOf(fieldData: unknown) {
  return objectsOf(fieldData).flatMap(({ name, values }) =>
    membersAsFields({ [String(name)]: Array.isArray(values) ? (values as readonly unknown[])[0] : values }),
  );
}

const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
