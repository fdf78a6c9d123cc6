/** A route of the ingest interface, as a client with a source key sees it. */
export type IngestRoute = {
  /** Method and path pattern by which the router knows the route. */
  readonly route: string;
  /** Address to request; KEY stands for the key. */
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Status for a key that is unknown or disabled, or whose source is no longer published. */
  readonly refused: number;
  readonly accepted: number;
  /** Whether a request with a valid key stores an event. */
  readonly stores: boolean;
};

/**
 * Every route of the ingest interface: its pattern; the address to request, with KEY in place of the key; the body; the
 * status for an invalid key, and the status for a valid key. `+`: stores an event. Written by hand from the contract.
 */
const written = `
POST /api/v1/track      | /api/v1/track    | {"token":"KEY","event":"E","distinctId":"ID"} | 401 200 +
POST /api/v1/identify   | /api/v1/identify | {"token":"KEY","userId":"u","userProperties":{"a":1}} | 401 200 +
POST /api/v1/batch      | /api/v1/batch    | {"token":"KEY","events":[{"event":"E","distinctId":"ID"}]} | 401 200 +
GET /pixel/:token               | /pixel/KEY.gif?event=E        | | 401 200 +
GET /api/v1/pixel/:token        | /api/v1/pixel/KEY.gif?event=E | | 401 200 +
GET /redirect/:code             | /redirect/KEY                 | | 404 302 + link
GET /api/v1/redirect/:code      | /api/v1/redirect/KEY          | | 404 302 + link
POST /webhook/:token            | /webhook/KEY                  | {"a":1} | 401 200 + hook
POST /api/v1/webhook/:token     | /api/v1/webhook/KEY           | {"a":1} | 401 200 + hook
GET /webhook/:token             | /webhook/KEY?hub.mode=subscribe&hub.challenge=1&hub.verify_token=no | | 401 405 hook
GET /api/v1/webhook/:token      | /api/v1/webhook/KEY?hub.mode=subscribe&hub.challenge=1&hub.verify_token=no | | 401 405 hook
GET /sluice/settings/:key       | /sluice/settings/KEY          | | 401 200
GET /sluice/container/:key | /sluice/container/KEY | | 401 404
POST /v1/track      | /v1/track    | {"writeKey":"KEY","userId":"u","event":"E"} | 401 200 +
POST /v1/t          | /v1/t        | {"writeKey":"KEY","userId":"u","event":"E"} | 401 200 +
POST /v1/identify   | /v1/identify | {"writeKey":"KEY","userId":"u","traits":{"a":1}} | 401 200 +
POST /v1/i          | /v1/i        | {"writeKey":"KEY","userId":"u","traits":{"a":1}} | 401 200 +
POST /v1/page       | /v1/page     | {"writeKey":"KEY","userId":"u","name":"P"} | 401 200 +
POST /v1/p          | /v1/p        | {"writeKey":"KEY","userId":"u","name":"P"} | 401 200 +
POST /v1/screen     | /v1/screen   | {"writeKey":"KEY","userId":"u","name":"S"} | 401 200 +
POST /v1/s          | /v1/s        | {"writeKey":"KEY","userId":"u","name":"S"} | 401 200 +
POST /v1/group      | /v1/group    | {"writeKey":"KEY","userId":"u","groupId":"g"} | 401 200 +
POST /v1/g          | /v1/g        | {"writeKey":"KEY","userId":"u","groupId":"g"} | 401 200 +
POST /v1/alias      | /v1/alias    | {"writeKey":"KEY","userId":"u","previousId":"p"} | 401 200 +
POST /v1/a          | /v1/a        | {"writeKey":"KEY","userId":"u","previousId":"p"} | 401 200 +
POST /v1/batch      | /v1/batch    | {"writeKey":"KEY","batch":[{"type":"track","userId":"u","event":"E"}]} | 401 200 +
POST /v1/import     | /v1/import   | {"writeKey":"KEY","batch":[{"type":"track","userId":"u","event":"E"}]} | 401 200 +
POST /v1/b          | /v1/b        | {"writeKey":"KEY","batch":[{"type":"track","userId":"u","event":"E"}]} | 401 200 +
POST /beacon/v1/batch | /beacon/v1/batch?writeKey=KEY | {"batch":[{"type":"track","userId":"u","event":"E"}]} | 401 200 +
GET /v1/projects/:key/settings  | /v1/projects/KEY/settings     | | 401 200
GET /sourceConfig               | /sourceConfig?writeKey=KEY    | | 401 200
POST /batch     | /batch   | {"api_key":"KEY","batch":[{"event":"E","distinct_id":"u","properties":{}}]} | 401 200 +
POST /capture   | /capture | {"api_key":"KEY","event":"E","distinct_id":"u","properties":{}} | 401 200 +
POST /e         | /e       | {"api_key":"KEY","event":"E","distinct_id":"u","properties":{}} | 401 200 +
POST /i/v0/e    | /i/v0/e  | {"api_key":"KEY","event":"E","distinct_id":"u","properties":{}} | 401 200 +
POST /i/v0/ai/batch | /i/v0/ai/batch/ | {"api_key":"KEY","batch":[{"event":"E","distinct_id":"u","properties":{}}]} | 401 200 +
POST /track     | /track   | {"api_key":"KEY","event":"E","distinct_id":"u","properties":{}} | 401 200 +
POST /engage    | /engage  | {"token":"KEY","distinct_id":"u","$set":{"a":1}} | 401 200 +
GET /array/:key/config     | /array/KEY/config    | | 401 200
GET /array/:key/config.js  | /array/KEY/config.js | | 401 200
POST /flags     | /flags?v=2  | {"token":"KEY","distinct_id":"u"} | 401 200
POST /decide    | /decide?v=3 | {"token":"KEY","distinct_id":"u"} | 401 200
`;

/** Routes without a check of the source key: public routes, and routes whose key the control plane checks. */
export const openRoutes: readonly string[] = [
  'POST /api/v1/experiments/assignments/:key',
  'POST /api/v1/experiments/personalization',
  'GET /sluice.js',
  'GET /sluice-tags.js',
  'GET /api/v1/openapi',
  'GET /api/v1/openapi/:family',
  'POST /v1/m',
  'POST /s',
  'POST /i/v1/logs',
  'POST /i/v1/metrics',
  'GET /api/surveys',
  'GET /api/early_access_features',
  'GET /api/web_experiments',
  'GET /api/product_tours',
  'GET /api/feature_flag/local_evaluation',
  'GET /flags/definitions',
  'GET /api/projects/@current/feature_flags/:flag/remote_config',
];

/** The kind of source whose key a route accepts. */
export type SortOfSource = 'server' | 'link' | 'hook';

function readLine(line: string): IngestRoute & { readonly sort: SortOfSource } {
  const [route = '', path = '', body = '', end = ''] = line.split('|').map((part) => part.trim());
  const [refused, accepted, ...more] = end.split(' ');
  return {
    route: route.replaceAll(/ +/g, ' '),
    path,
    body: body === '' ? undefined : body,
    headers: body === '' ? {} : { 'content-type': 'application/json' },
    refused: Number(refused),
    accepted: Number(accepted),
    stores: more.includes('+'),
    sort: more.includes('link') ? 'link' : more.includes('hook') ? 'hook' : 'server',
  };
}

export const ingestTable = written
  .split('\n')
  .filter((line) => line !== '')
  .map(readLine);
