import { facebookOutcome } from '../../destinations/facebook/errors.ts';
import { graphApi } from '../../destinations/facebook/graph-api.ts';
import { jsonAnswer } from '../../destinations/sdk/answers.ts';
import { standardEvents } from '../../destinations/sdk/standard-events.ts';
import { copyMember, mergeMembers } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { FormField } from '../sdk/form-fields.ts';
import { compilePath, textAt, textOf, labelOf } from '../sdk/path.ts';
import { bodySignature } from '../sdk/signature.ts';
import { createEventReader, defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Error code of the Graph API, both for a lead that does not exist (yet) and for one that the token may not read.
 */
const notThere = 100;

/** Reads a lead as the Graph API returns it for `GET /{lead}`, with answers by form field name. */
const readLead = createEventReader({
  type: 'FacebookLeadAds',
  table: { name: () => standardEvents.lead.label, id: ({ id }) => leadId(id), time: ['created_time'] },
  fields: ({ field_data: answers }) => answersOf(answers),
  properties: ({ id, field_data: answers, ...others }) => ({ ...others, leadgen_id: id, ...byName(answers) }),
});

/**
 * Facebook Lead Ads: notifications of new leads, several in one request. A notification contains only the lead's ids.
 * The Graph API returns the person's data if the request has a token of the page with permission to read its leads
 * (`leads_retrieval`).
 */
export const facebookLeadAds = defineSourceKind({
  type: 'FacebookLeadAds',
  label: 'Facebook Lead Ads',
  setUp:
    'The app, Webhooks, Page: Callback URL, with the source key as Verify Token; subscribe to `leadgen`, and subscribe the page to the app. `accessToken` of the source: a long-lived token of the page',
  notes:
    'The events are notices, called `leadgen`, with the lead’s id. With an `accessToken`, each lead is fetched and becomes a separate event, called `Lead`: ids and answers are its properties; e-mail address, phone and name are properties of its visitor. While a lead is not available yet or the Graph API does not answer, the request is retried as for destinations; if the token is refused, the source is held until it has another one. A lead that cannot be fetched becomes a dead letter under the source’s id, listed and replayed like those of a destination: `/rest/v1/destinations/{source id}/dead-letters`. Without a token, fields are only read from a notice that contains them as `field_data`.',
  follows: [
    'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    'https://developers.facebook.com/docs/graph-api/webhooks/getting-started/webhooks-for-leadgen',
    'https://developers.facebook.com/docs/marketing-api/guides/lead-ads/retrieving',
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
  fetch: {
    tokenName: 'a page access token with `leads_retrieval`',
    url: graphApi.url,
    request({ field, value }, { url, token }) {
      const id = field === 'leadgen' ? textAt(value, leadgenIdPath) : undefined;
      if (id === undefined || !/^\d{1,40}$/.test(id)) return undefined;
      // The notification already contains the answers, so there is nothing to fetch.
      if (isJsonObject(value) && Array.isArray(value['field_data'])) return undefined;
      const headers = { authorization: `Bearer ${token}` };
      return { method: 'GET', url: `${url}/${graphApi.version}/${id}`, headers };
    },
    readFailure(answer) {
      const error = jsonAnswer(answer)?.['error'];
      const isNotThere = isJsonObject(error) && error['code'] === notThere;
      return isNotThere
        ? { kind: 'retry', reason: `status ${answer.status}, code ${notThere}` }
        : facebookOutcome(answer);
    },
    readEvent(answer) {
      return leadId(answer['id']) !== undefined && Array.isArray(answer['field_data'])
        ? readLead(answer)[0]
        : undefined;
    },
  },
});

const leadgenIdPath = compilePath('leadgen_id');

function leadId(id: unknown): string | undefined {
  const text = textOf(id);
  return text === undefined ? undefined : `lead:${text}`;
}

/** Each change of each entry, with the page's id and the time of its entry. */
function changesOf(body: unknown): readonly unknown[] {
  const entries = isJsonObject(body) ? objectsOf(body['entry']) : [];
  const changes = entries.flatMap((entry) => {
    const shared: Record<string, unknown> = {};
    copyMember(shared, 'page_id', entry, 'id');
    copyMember(shared, 'time', entry);
    return objectsOf(entry['changes']).map((change) => mergeMembers(shared, change));
  });
  return changes.length === 0 ? [body] : changes;
}

/** A lead's answers: `[{name, values}]`. */
function answersOf(fieldData: unknown): FormField[] {
  return objectsOf(fieldData).map(({ name, values }) => ({ label: labelOf(name), value: firstOf(values) }));
}

/** The answers by name: a text, or a list if several options were chosen. */
function byName(fieldData: unknown): JsonObject {
  const answers = objectsOf(fieldData).slice(0, answersMax);
  return Object.fromEntries(
    answers.map(({ name, values }) => [
      labelOf(name),
      Array.isArray(values) && values.length > 1 ? (values as readonly unknown[]) : firstOf(values),
    ]),
  );
}

const answersMax = 200;

const firstOf = (values: unknown): unknown => (Array.isArray(values) ? (values as readonly unknown[])[0] : values);

const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
