/** A route of the configuration API for clients with an API key. */
export type TableRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Path without /rest/v1, with the required query. `{destination}` stands for the id of a destination, `{mappings}`
   * for the id of a mapping, and so on.
   */
  readonly path: string;
  /** The scope that the route requires; undefined if any key may call it. */
  readonly scope: string | undefined;
  /** A valid body, so that the route looks up the ids of the path. */
  readonly body: unknown;
  /** Requested with the header of the platform library. */
  readonly asLibrary: boolean;
  /** Whether the answer is a stream that continues until the client disconnects. */
  readonly streams: boolean;
};

/**
 * Every route that accepts an API key: method, path, scope and body. Written by hand, so that the tests of access do
 * not take their expectations from the code. They fail if a route is missing here or no longer exists.
 */
const written = `
GET    /destinations                                        destination:list
POST   /destinations                                        destination:create
GET    /destinations/types                                  destination:list
GET    /destinations/types/unavailable                      destination:list
GET    /destinations/{destination}                          destination:find
PATCH  /destinations/{destination}                          destination:update
DELETE /destinations/{destination}                          destination:delete
GET    /destinations/{destination}/health                   destination:find
GET    /destinations/{destination}/health/series            destination:find
GET    /destinations/{destination}/delivery                 destination:find
GET    /destinations/{destination}/backlog                  destination:find
GET    /destinations/{destination}/sending                  destination:find
GET    /destinations/{destination}/failures                 destination:find
GET    /destinations/{destination}/standard-events          destination:find
POST   /destinations/{destination}/test                     destination:update
GET    /destinations/{destination}/dead-letters             destination:find
GET    /destinations/{destination}/dead-letters/{deadLetter}   destination:find
DELETE /destinations/{destination}/dead-letters             destination:update
POST   /destinations/{destination}/replay                   destination:update   {"what":"dead-letters"}
GET    /destinations/{destination}/replays                  destination:find
GET    /destinations/{destination}/replays/{replay}         destination:find
POST   /destinations/{destination}/replays/{replay}/cancel  destination:update

GET    /sources                          source:list
POST   /sources                          source:create
GET    /sources/types                    source:list
POST   /sources/tokens/check             source:list   {"token":"src_live_x"}
GET    /sources/{source}                 source:find
PATCH  /sources/{source}                 source:update
DELETE /sources/{source}                 source:delete
GET    /sources/{source}/tokens          source:tokens
GET    /sources/{source}/tokens          source:tokens   @library
POST   /sources/{source}/tokens/rotate   source:update
POST   /sources/{source}/secret/rotate   source:update
GET    /identity-counts                  source:list

GET    /versions                      version:list
POST   /versions                      version:create
POST   /versions                      version:publish   @library
GET    /versions/{version}            version:find
PATCH  /versions/{version}            version:update
DELETE /versions/{version}            version:delete
POST   /versions/{version}/publish    version:publish
POST   /versions/{version}/publish    version:publish   @library
GET    /versions/{version}/backlogs   version:find
GET    /versions/{version}/rollout    version:find
GET    /versions/{version}/snapshot   version:find
GET    /versions/{version}/diff       version:find
GET    /versions/{version}/changes    version:find
GET    /versions/{version}/privacy-report   version:find
GET    /versions/draft/status?collection=destinations&entityId={destination}   version:find
POST   /versions/draft/revert         version:publish   {"entities":[]}
POST   /versions/draft/abandon        version:publish
POST   /versions/{version}/request-approval   version:create
POST   /versions/{pendingVersion}/approve   version:approve
POST   /versions/{pendingVersion}/reject    version:approve
GET    /approvals                     version:list
GET    /publications                  version:list
GET    /versions/{version}/impact     version:find

POST   /collections/experiments/{experiments}/start    experiments:update
POST   /collections/experiments/{experiments}/pause    experiments:update
POST   /collections/experiments/{experiments}/resume   experiments:update
POST   /collections/experiments/{experiments}/stop     experiments:update
POST   /collections/experiments/{experiments}/rollout  experiments:update   {"variantId":"{experimentVariants}"}

GET    /events                 event:list
GET    /events/stream          event:list   @streams
GET    /events/summary         event:list
GET    /events/search?eventId=e   event:list   @streams
GET    /events/counts          event:list
GET    /event-views            event:list
POST   /event-views            destination:update   {"name":"n","query":"q"}
DELETE /event-views/{eventView}   destination:update
GET    /events/{event}         event:list
GET    /events/{event}/exchanges   destination:find
GET    /events/{event}/ways    event:list
POST   /events/{event}/ways    event:list
GET    /rules/paths            event:list
POST   /rules/matches          event:list   {"logic":null}
GET    /rules/language         any

GET    /search?query=a         any

GET    /visitors?userId={visitor}     visitor:find
GET    /visitors/{visitor}            visitor:find
DELETE /visitors/{visitor}            visitor:delete
GET    /visitors/{visitor}/merges     visitor:find
POST   /visitors/{visitor}/merge      visitor:update   {"visitorId":"{person}"}
POST   /visitors/{visitor}/split      visitor:update   {"mergeId":"{merge}"}
GET    /erasures                      erasure:list
GET    /erasures/{erasure}            erasure:find
GET    /erasures/{erasure}/certificate   erasure:find
POST   /erasures/{erasure}/retry         erasure:update
POST   /erasures/{erasure}/destinations/{erasureDestination}/confirm   erasure:update
GET    /suppressions                  suppression:list
POST   /suppressions                  suppression:create
DELETE /suppressions/{suppression}    suppression:delete
GET    /quarantine                    quarantine:list
POST   /quarantine/release            quarantine:release
POST   /quarantine/delete             quarantine:delete

GET    /violations             violation:list
POST   /tracking-plan/try      event:list
GET    /personal-data           violation:list
PATCH  /personal-data           dataGovernanceRules:update   {"event":"Signup","property":"event_properties.email","isPersonal":false}
POST   /personal-data/propose   dataGovernanceRules:create   {"event":"Signup","property":"event_properties.email"}

GET    /account             account:find
PATCH  /account             account:update
GET    /account/keys        account:find
GET    /keys                key:list
POST   /keys                key:create
DELETE /keys/{key}          key:delete
GET    /roles               any
GET    /users               user:list
POST   /users               user:create
PATCH  /users/{user}        user:update
DELETE /users/{user}        user:delete
DELETE /users/{user}/sessions   user:update
GET    /audit               audit:list
GET    /activity            activity:find
GET    /activity/connections   activity:find
GET    /activity/destinations   activity:find
GET    /activity/stream     activity:find   @streams
GET    /system/processes    system:find
GET    /system/partitions   system:find
GET    /system/work         system:find
GET    /system/alerts       system:find
GET    /system/findings     system:find
GET    /me                  any
POST   /sign-in-links       key:create

GET    /allowed-events                     allowedEvents:list
POST   /allowed-events                     allowedEvents:create
GET    /allowed-events/{allowedEvents}     allowedEvents:find
PATCH  /allowed-events/{allowedEvents}     allowedEvents:update
DELETE /allowed-events/{allowedEvents}     allowedEvents:delete
GET    /data-governance                           globalDispatchCenters:list
POST   /data-governance                           globalDispatchCenters:create
GET    /data-governance/{globalDispatchCenters}   globalDispatchCenters:find
PATCH  /data-governance/{globalDispatchCenters}   globalDispatchCenters:update
DELETE /data-governance/{globalDispatchCenters}   globalDispatchCenters:delete
GET    /consent-settings                   consentSettings:list
POST   /consent-settings                   consentSettings:create
GET    /consent-settings/{consentRecord}   consentSettings:find
PUT    /consent-settings/{consentRecord}   consentSettings:update   {"name":"Consent settings","status":"Enabled","categories":[],"default":{"mode":"opt_in","language":"en","translations":[],"categories":[]}}
PATCH  /consent-settings/{consentRecord}   consentSettings:update
DELETE /consent-settings/{consentRecord}   consentSettings:delete
GET    /mappings?entityId={destination}             mappings:list
POST   /mappings                     mappings:create
GET    /mappings/default-variables   variables:find-default
GET    /mappings/custom-variables    variables:find-custom
GET    /mappings/modifications       variables:find-default
GET    /mappings/templates?entityId={destination}   mappings:find
POST   /mappings/reorder             mappings:update
GET    /mappings/{mappings}          mappings:find
PATCH  /mappings/{mappings}          mappings:update
DELETE /mappings/{mappings}          mappings:delete
GET    /default-mappings                 mappings:list
GET    /default-mappings/{destination}   mappings:find
PUT    /default-mappings/{destination}   mappings:update   {"mappings":[]}
GET    /experiment-settings                        experimentSettings:list
POST   /experiment-settings                        experimentSettings:create
GET    /experiment-settings/{experimentSettings}   experimentSettings:find
PATCH  /experiment-settings/{experimentSettings}   experimentSettings:update
DELETE /experiment-settings/{experimentSettings}   experimentSettings:delete
GET    /experiments                                     experiments:list
POST   /experiments                                     experiments:create
GET    /experiments/{experiments}                       experiments:find
PATCH  /experiments/{experiments}                       experiments:update
DELETE /experiments/{experiments}                       experiments:delete
POST   /experiments/{experiments}/start                 experiment:start
POST   /experiments/{experiments}/pause                 experiment:stop
POST   /experiments/{experiments}/resume                experiment:start
POST   /experiments/{experiments}/stop                  experiment:stop
POST   /experiments/{experiments}/rollout               experiment:stop   {"variantId":"{experimentVariants}"}
POST   /experiments/{experiments}/end-rollout           experiment:stop
POST   /experiments/{experiments}/winner                experiment:stop
GET    /experiments/{experiments}/results               experiments:find
GET    /experiments/{experiments}/results               experiments:find   @library
GET    /experiments/{experiments}/results-time-series   experiments:find
GET    /experiment-variants?experimentId={experiments}   experimentVariants:list
POST   /experiment-variants                        experimentVariants:create
GET    /experiment-variants/{experimentVariants}   experimentVariants:find
PATCH  /experiment-variants/{experimentVariants}   experimentVariants:update
DELETE /experiment-variants/{experimentVariants}   experimentVariants:delete
`;

/** Collections with the same routes, each with scopes by its name. */
const collections = [
  'allowedEvents',
  'externalAllowedEventData',
  'mappings',
  'consentSettings',
  'globalDispatchCenters',
  'replaySettings',
  'tagManagers',
  'tagManagerTags',
  'tagManagerTriggers',
  'tagManagerVariables',
  'dataGovernanceRules',
  'dataGovernanceEvents',
  'experimentSettings',
  'experiments',
  'experimentVariants',
];

const ofCollection = (name: string): string => `
GET    /collections/${name}           ${name}:list
POST   /collections/${name}           ${name}:create
GET    /collections/${name}/{${name}} ${name}:find
PATCH  /collections/${name}/{${name}} ${name}:update
DELETE /collections/${name}/{${name}} ${name}:delete
`;

const lineForm = /^(GET|POST|PUT|PATCH|DELETE) +(\S+) +(\S+)(?: +@(library|streams))?(?: +(\{.*\}))?$/;

function readLine(line: string): TableRoute {
  const [, method, path = '', scope, mark, body] = lineForm.exec(line) ?? [];
  if (method === undefined) throw new Error(`the table of routes has a line that is none: ${line}`);
  return {
    method: method as TableRoute['method'],
    path,
    scope: scope === 'any' ? undefined : scope,
    body: body === undefined ? {} : JSON.parse(body),
    asLibrary: mark === 'library',
    streams: mark === 'streams',
  };
}

export const routeTable: readonly TableRoute[] = [written, ...collections.map(ofCollection)]
  .flatMap((text) => text.split('\n'))
  .filter((line) => line !== '')
  .map(readLine);

const actions = ['list', 'find', 'create', 'update', 'delete'];

/** For each scope, the other scopes that also grant it; `all` is not listed. */
export const widerScopes: Readonly<Record<string, readonly string[]>> = {
  'source:find': ['source:view'],
  'source:tokens': ['source:view', 'source:update'],
  'version:create': ['version:publish'],
  ...Object.fromEntries(
    actions.flatMap((action) => [
      [`allowedEvents:${action}`, [`allowedEvent:${action}`]],
      [`globalDispatchCenters:${action}`, [`globalDispatch:${action}`]],
      [`mappings:${action}`, [`mapping:${action}`]],
      [`experiments:${action}`, [`experiment:${action}`]],
    ]),
  ),
  'experimentVariants:list': ['experiment:find'],
  'experimentVariants:find': ['experiment:find'],
  'experimentVariants:create': ['experiment:update'],
  'experimentVariants:update': ['experiment:update'],
  'experimentVariants:delete': ['experiment:update'],
};

/** Scopes that `all` does not include, because it covers one account. */
export const beyondAll: readonly string[] = ['system:find'];

/** Routes without an API key: sessions of browsers, assignments to experiments, descriptions and pages. */
export const publicRoutes: readonly string[] = [
  'GET /rest/v1/session',
  'POST /rest/v1/session',
  'POST /rest/v1/session/redeem',
  'DELETE /rest/v1/session/{}',
  'POST /rest/v1/session/single-sign-on',
  'GET /rest/v1/session/single-sign-on/callback',
  'POST /experiments/assignments/{}',
  'POST /experiments/personalization',
  'POST /experiments/flags',
  'OPTIONS /experiments/*',
  'GET /rest/v1/openapi',
  'GET /rest/v1/openapi/platform-library',
  'GET /rest/v1/reference',
  'GET /docs',
  'GET /docs/*',
  'HEAD /docs/*',
  'GET /docs/instance.json',
  'GET /assets/*',
  'HEAD /assets/*',
  'GET /*',
];
