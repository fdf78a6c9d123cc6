import { BatchPayload, BatchRow } from '../../payload/batch-payload.ts';
import { IdentifyPayload } from '../../payload/identify-payload.ts';
import { TrackPayload } from '../../payload/track-payload.ts';
import { experimentPaths } from '../experiments/describe-experiments.ts';

export type IngestLimits = {
  readonly bodyBytesMax: number;
  readonly batch: {
    readonly bodyBytesMax: number;
    readonly rowsMax: number;
    readonly row: { readonly bytesMax: number };
  };
};

/** The OpenAPI 3.1 document of the ingest interface. Payload schemas are the ones requests are checked against. */
export function describeIngest(limits: IngestLimits): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice ingest',
      version: '1.0.0',
      description:
        'A 200 means that the event is stored in the log and survives the loss of every process; it may not have been ' +
        'dispatched yet. An event sent again with the same distinctId is accepted and processed once. ' +
        'Clients retry on 408, 409, 429 and 5xx and honour Retry-After.',
    },
    paths: {
      '/api/v1/track': { post: track(limits) },
      '/api/v1/identify': { post: identify(limits) },
      '/api/v1/batch': { post: batch(limits) },
      '/pixel/{token}.gif': { get: pixel },
      '/redirect/{code}': { get: redirect },
      '/webhook/{token}': { post: webhook },
      ...experimentPaths,
      '/api/v1/openapi': {
        get: { operationId: 'openapi', summary: 'This document', responses: { 200: { description: 'This document' } } },
      },
    },
    components: {
      schemas: {
        TrackPayload,
        IdentifyPayload,
        BatchPayload: { ...BatchPayload, properties: { ...BatchPayload.properties, events: batchEvents(limits) } },
        BatchRow,
        Success: object({ success: { const: true } }),
        Failure: object({ success: { const: false }, error: { type: 'string' } }, ['success']),
        BatchSuccess: batchResult(true),
        BatchMixed: batchResult(false),
        BatchFailure: batchFailure,
        RowResult: rowResult,
      },
    },
  };
}

type Schema = Readonly<Record<string, unknown>>;

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const jsonContent = (name: string): object => ({ 'application/json': { schema: reference(name) } });
const object = (properties: Schema, required: readonly string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
});
const answer = (description: string, name: string): object => ({ description, content: jsonContent(name) });
const laterAnswer = (description: string, name: string): object => ({
  ...answer(description, name),
  headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
});

const refusals = (failure: string): Schema => ({
  400: answer('Malformed JSON, a missing or ill-typed field, or a time outside of its window', failure),
  401: answer('Missing, unknown, disabled or unpublished source key', failure),
  403: answer("The source's whitelistDomains or whitelistIps refuses the request", failure),
  413: answer('The body is over the limit', failure),
  415: answer('The body is not JSON', failure),
  429: laterAnswer('Too many events for this source', failure),
  503: laterAnswer('The log did not take the event; nothing was accepted', failure),
});

const single = (operationId: string, summary: string, payload: string, limits: IngestLimits): object => ({
  operationId,
  summary,
  description: `The body has ${limits.bodyBytesMax} bytes at most. text/plain is read as JSON too, for beacons.`,
  requestBody: { required: true, content: jsonContent(payload) },
  responses: { 200: answer('Stored', 'Success'), ...refusals('Failure') },
});

const track = (limits: IngestLimits): object => single('track', 'Send one event', 'TrackPayload', limits);
const identify = (limits: IngestLimits): object =>
  single('identify', 'Update a visitor; fires a $identify event', 'IdentifyPayload', limits);

const batch = ({ batch: limits }: IngestLimits): object => ({
  operationId: 'batch',
  summary: 'Send many events',
  description:
    `A batch has ${limits.rowsMax} rows and ${limits.bodyBytesMax} bytes at most, a row ${limits.row.bytesMax} bytes. ` +
    'Content-Encoding gzip is read. defaultProperties, identityContext and custom_properties beside the rows hold for ' +
    "all of them; a row's own win. Retry only the rows that failed with queue_failed.",
  requestBody: { required: true, content: jsonContent('BatchPayload') },
  responses: {
    200: answer('Every row is stored', 'BatchSuccess'),
    207: answer('Some rows are stored', 'BatchMixed'),
    ...refusals('BatchFailure'),
  },
});

const batchEvents = ({ batch: limits }: IngestLimits): Schema => ({
  type: 'array',
  maxItems: limits.rowsMax,
  items: reference('BatchRow'),
});

const rowResult: Schema = object(
  {
    index: { type: 'integer' },
    success: { type: 'boolean' },
    code: { enum: ['invalid_event', 'queue_failed'] },
    message: { type: 'string' },
  },
  ['index', 'success'],
);

const results: Schema = { type: 'array', items: reference('RowResult') };
const batchResult = (success: boolean): Schema =>
  object({ success: { const: success }, accepted: { type: 'integer' }, failed: { type: 'integer' }, results });
const batchFailure: Schema = object(
  {
    success: { const: false },
    error: { type: 'string' },
    limit: { type: 'integer', description: 'With 413: the limit in rows or bytes' },
    retryable: { type: 'boolean' },
    results,
  },
  ['success', 'error'],
);

const pathParameter = (name: string, description: string): object => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const queryParameter = (name: string, required = false): object => ({
  name,
  in: 'query',
  required,
  schema: { type: 'string' },
});
const identityParameters = ['userId', 'externalId', 'email', 'distinctId', 'time'].map((name) => queryParameter(name));
const otherParameters = 'utm_* and click ids become defaultProperties, other parameters eventProperties.';

const pixel: object = {
  operationId: 'pixel',
  summary: 'Send one event by loading an image',
  description: `A cookie of this host keeps the visitor's id. ${otherParameters}`,
  parameters: [pathParameter('token', 'Source key'), queryParameter('event', true), ...identityParameters],
  responses: {
    200: { description: 'Stored; a transparent GIF of one point', content: { 'image/gif': {} } },
    ...refusals('Failure'),
  },
};

const redirect: object = {
  operationId: 'redirect',
  summary: "Follow a short link to the source's redirectUrl",
  description: `Tracks an event named as the source, if the log takes it. ${otherParameters}`,
  parameters: [pathParameter('code', 'Id or key of a RedirectSource'), ...identityParameters],
  responses: {
    302: { description: 'To the redirectUrl' },
    404: answer('No such link', 'Failure'),
    429: laterAnswer('Too many events for this source', 'Failure'),
  },
};

const webhook: object = {
  operationId: 'webhook',
  summary: 'Send one event with any body',
  description:
    'The body, a JSON object or a form, becomes eventProperties. The event is named as the source, or by `event`.',
  parameters: [pathParameter('token', 'Source key'), queryParameter('event'), ...identityParameters],
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: { type: 'object' } },
      'application/x-www-form-urlencoded': { schema: { type: 'object' } },
    },
  },
  responses: { 200: answer('Stored', 'Success'), ...refusals('Failure') },
};
