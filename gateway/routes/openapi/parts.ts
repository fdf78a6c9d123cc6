/** Pieces of OpenAPI 3.1 for the routes' descriptions. */
export type Schema = Readonly<Record<string, unknown>>;

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const jsonContent = (name: string): object => ({ 'application/json': { schema: reference(name) } });
export const object = (properties: Schema, required: readonly string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
});
export const answer = (description: string, name: string): object => ({ description, content: jsonContent(name) });
export const laterAnswer = (description: string, name: string): object => ({
  ...answer(description, name),
  headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
});

/** All answers that refuse a request with events; `failure` names the schema of their body. */
export const refusals = (failure: string): Schema => ({
  400: answer('Malformed JSON, a missing field, a field of the wrong type, or a time outside the window', failure),
  401: answer('Missing, unknown, disabled or unpublished source key', failure),
  403: answer("The source's whitelistDomains or whitelistIps refuses the request", failure),
  413: answer('The body is larger than the limit', failure),
  415: answer('The body is not JSON', failure),
  429: laterAnswer(
    'The source is over its rate limit, or waiting events of its account are too old or too many',
    failure,
  ),
  503: laterAnswer('The log did not store the event; nothing was accepted', failure),
});

/** Schemas of answers that several routes use. */
export const commonSchemas: Schema = {
  Success: object({ success: { const: true } }),
  Failure: object({ success: { const: false }, error: { type: 'string' } }, ['success']),
};

/** An operation that takes one event as JSON. */
export const singleEvent = (operationId: string, summary: string, payload: string, bodyBytesMax: number): object => ({
  operationId,
  summary,
  description: `The body has at most ${bodyBytesMax} bytes. text/plain is read as JSON too, for beacons.`,
  requestBody: { required: true, content: jsonContent(payload) },
  responses: { 200: answer('Stored', 'Success'), ...refusals('Failure') },
});

export const pathParameter = (name: string, description: string): object => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
export const queryParameter = (name: string, required = false): object => ({
  name,
  in: 'query',
  required,
  schema: { type: 'string' },
});
/** Parameters for identity and time, for routes that read them from the query. */
export const identityParameters: readonly object[] = ['userId', 'externalId', 'email', 'distinctId', 'time'].map(
  (name) => queryParameter(name),
);
export const otherParameters = 'utm_* and click ids become defaultProperties, other parameters eventProperties.';
