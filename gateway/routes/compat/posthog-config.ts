import { isPlaceholder } from '../../../shared/contracts/events/placeholder-identifier.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { Exchange } from '../../http/exchange.ts';
import { createReply, jsonReply, keptBriefly } from '../../http/reply.ts';
import { decodeSegment } from '../../http/request-head.ts';
import type { GetRoute, OpenApiPart, PostRoute, Route } from '../../http/route.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import { pathParameter, queryParameter } from '../openapi/parts.ts';
import type { CompatIntake } from './compat-intake.ts';
import { formFlags } from './flag-values.ts';
import type { AskFlags, FlagValues, FlagsForm } from './flag-values.ts';
import { messageKey } from './posthog.ts';
import { idProblem, readId } from './translation.ts';

/**
 * The requests of PostHog's libraries that carry no events: for configuration, flags and lists. A 404 causes some of
 * the libraries to throw in the customer's code. Flags are the account's experiments, in the form that each version
 * expects (posthog.com/docs/api/flags); lists are empty. Measured with `posthog-js` 1.20 to 1.449 and `posthog-node`
 * 5.70.
 */
const document = 'posthog';

export function createPostHogConfigRoutes(
  compat: CompatIntake,
  admission: Admission,
  askFlags: AskFlags,
): readonly Route[] {
  return [
    configRoute(admission, 'posthog-config', '/array/:key/config', (key) =>
      jsonReply(200, configOf(key), { headers: keptBriefly }),
    ),
    configRoute(admission, 'posthog-config-script', '/array/:key/config.js', (key) =>
      createReply(200, Buffer.from(configScript(key)), {
        headers: [['content-type', 'text/javascript; charset=utf-8'], ...keptBriefly],
      }),
    ),
    flagsRoute(compat, 'posthog-flags', '/flags', askFlags, flagsAnswer),
    flagsRoute(compat, 'posthog-decide', '/decide', askFlags, decideAnswer),
    ...Object.entries(emptyAnswers).map(([path, empty]) => emptyRoute(path, empty)),
  ];
}

/**
 * Events and autocapture are on, everything else is off. `surveys` is absent on purpose, because with any value, even
 * `false`, the library loads a script for surveys from this address.
 */
const configOf = (key: string): object => ({ token: key, ...features });

const features = {
  supportedCompression: ['gzip', 'gzip-js'],
  analytics: { endpoint: '/e/' },
  // For versions before 2024.
  config: { enable_collect_everything: true },
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  captureDeadClicks: false,
  capturePerformance: false,
  conversations: false,
  elementsChainAsString: true,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  // With false, newer versions never request flags, and callbacks of onFeatureFlags are never called.
  hasFeatureFlags: true,
  heatmaps: false,
  isAuthenticated: false,
  logs: { captureConsoleLogs: false },
  productTours: false,
  sessionRecording: false,
  siteApps: [],
  toolbarParams: {},
} as const;

const configScript = (key: string): string =>
  `(function(){var all=window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};all[${asScript(key)}]=` +
  `{config:${asScript(configOf(key))},siteApps:[]}})();`;

/** JSON that is safe inside a script. */
const asScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);

function configRoute(
  admission: Admission,
  name: string,
  path: string,
  replyOf: (key: string) => ReturnType<typeof createReply>,
): GetRoute {
  return {
    name,
    method: 'get',
    paths: [path],
    document,
    openapi: describeGet(name, path, 'Configuration of the browser library: the parts that are served', {
      parameters: [pathParameter('key', 'Source key')],
      refused: { 401: { description: 'No such key' } },
    }),
    accept(exchange, segment) {
      const key = decodeSegment(segment);
      const admitted = admission.admitToken(exchange, key, 0);
      exchange.send(admitted instanceof Admitted ? replyOf(key) : admitted);
    },
  };
}

/** The body of an answer; the query of the request decides its form. */
type Answer = (query: URLSearchParams, flags: FlagsForm) => object;

function flagsRoute(compat: CompatIntake, name: string, path: string, askFlags: AskFlags, answer: Answer): PostRoute {
  return {
    name,
    method: 'post',
    paths: [path],
    document,
    openapi: {
      paths: {
        [path]: {
          post: {
            operationId: name,
            summary: "Feature flags of a person: the account's experiments, in the format of the version in `v`",
            parameters: [queryParameter('v'), queryParameter('config')],
            requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
            responses: { 200: { description: 'The flags' }, 401: { description: 'No such key' } },
          },
        },
      },
    },
    readsQuery: true,
    bodyBytesMax: compat.bodyBytesMax,
    refuse: (exchange) => compat.refuse(exchange),
    accept: (exchange: Exchange, body, _parameter, query) =>
      compat.ask(exchange, body, query, {
        keyOf: (value) => (isJsonObject(value) ? messageKey(value) : undefined),
        answer(asked, value, token) {
          const parameters = new URLSearchParams(query);
          const reply = (found: FlagValues | undefined): void =>
            asked.send(jsonReply(200, answer(parameters, formFlags(found))));
          const ids = isJsonObject(value) ? value : {};
          const visitorId = readId(ids, 'distinct_id') ?? readId(ids, '$distinct_id');
          // Without a visitor, the library only requests its configuration.
          if (visitorId === undefined || isPlaceholder(visitorId)) return reply({});
          if (idProblem({ distinct_id: visitorId }) !== undefined) return reply({});
          void askFlags(asked, { token, visitorId, keys: keysAsked(value) }).then(reply);
        },
      }),
  };
}

function keysAsked(body: unknown): readonly string[] | undefined {
  const keys = isJsonObject(body) ? body['flag_keys_to_evaluate'] : undefined;
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string').slice(0, flagKeysMax) : undefined;
}

/** The control plane's limit of flag keys in one request. */
const flagKeysMax = 1_000;

const versionOf = (query: URLSearchParams): number => Number.parseInt(query.get('v') ?? '1', 10) || 1;

function flagsAnswer(query: URLSearchParams, { values, details }: FlagsForm): object {
  const flags = versionOf(query) < 2 ? values : details;
  return query.get('config') === 'true' ? { ...features, ...flags } : flags;
}

/** Includes the configuration. Version 1 has a list of names instead of a map. */
function decideAnswer(query: URLSearchParams, { names, enabled, values, details }: FlagsForm): object {
  const version = versionOf(query);
  if (version === 1) return { ...features, featureFlags: names };
  if (version === 2) return { ...features, featureFlags: enabled };
  return { ...features, ...(version === 3 ? values : details) };
}

/** Definitions for libraries that evaluate flags themselves: with none, they request the values from `/flags`. */
const noDefinitions = { flags: [], group_type_mapping: {}, cohorts: {} };

/** Addresses of features that Sluice does not have, with their empty answers. */
const emptyAnswers = {
  '/api/surveys': { surveys: [] },
  '/api/early_access_features': { earlyAccessFeatures: [] },
  '/api/web_experiments': { experiments: [] },
  '/api/product_tours': { product_tours: [] },
  '/api/feature_flag/local_evaluation': noDefinitions,
  '/flags/definitions': noDefinitions,
  '/api/projects/@current/feature_flags/:flag/remote_config': null,
} as const;

function emptyRoute(path: string, empty: object | null): GetRoute {
  const name = `posthog-${path.slice(path.lastIndexOf('/') + 1).replaceAll('_', '-')}`;
  const reply = jsonReply(200, empty, { headers: [['cache-control', 'public, max-age=300']], isForAll: true });
  return {
    name,
    method: 'get',
    paths: [path],
    document,
    openapi: describeGet(name, path, 'Always empty: Sluice does not have this feature', {
      parameters: path.includes(':flag') ? [pathParameter('flag', 'Key of the flag')] : [],
    }),
    accept: (exchange) => exchange.send(reply),
  };
}

type Described = { readonly parameters: readonly object[]; readonly refused?: object };

function describeGet(name: string, path: string, summary: string, { parameters, refused }: Described): OpenApiPart {
  const described = path.replace(/:(\w+)/, '{$1}');
  const responses = { 200: { description: 'The answer' }, ...refused };
  return { paths: { [described]: { get: { operationId: name, summary, parameters, responses } } } };
}
