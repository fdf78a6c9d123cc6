import { decodeSegment, isSecureRequest } from '../../http/request-head.ts';
import { accepted, jsonReply, keptBriefly } from '../../http/reply.ts';
import type { GetRoute, PostRoute, Route } from '../../http/route.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import type { PublishedSource } from '../../ingest/published-sources.ts';
import { pathParameter } from '../openapi/parts.ts';
import type { CompatIntake } from './compat-intake.ts';
import { describeCompat } from './describe-compat.ts';
import { specBatch, specCall, specCalls } from './spec-message.ts';
import type { SpecCall } from './spec-message.ts';
import type { Dialect } from './translation.ts';

/**
 * What Segment's libraries send (segment.com/docs/connections/sources/catalog/libraries/server/http-api), measured with
 * `@segment/analytics-node` 3.1.0, `@segment/analytics-next` 1.84.3 and the libraries for Python, Java and Rust. Each
 * call has a path, its name or, in browsers, its first letter. `batch` and, from mobile and Java libraries, `import`
 * carry many calls. RudderStack's libraries use the same paths under `/v1`. A browser library first requests its
 * settings. It sends metrics about itself to `m`, unless the settings disable them.
 */
const document = 'segment';

const pathsOfCall = (call: SpecCall): readonly string[] => [`/v1/${call}`, `/v1/${call.charAt(0)}`];

/** `isSecure`: the gateway itself speaks TLS. */
export function createSegmentRoutes(compat: CompatIntake, admission: Admission, isSecure: boolean): readonly Route[] {
  const calls = specCalls.map((call) =>
    postRoute(compat, `spec-${call}`, pathsOfCall(call), specCall(call), `A ${call} call`),
  );
  const batch = postRoute(compat, 'spec-batch', ['/v1/batch', '/v1/import', '/v1/b'], specBatch, 'Many calls');
  return [...calls, batch, metricsRoute(), settingsRoute(admission, isSecure)];
}

function postRoute(
  compat: CompatIntake,
  name: string,
  paths: readonly string[],
  dialect: Dialect,
  summary: string,
): PostRoute {
  return {
    name,
    method: 'post',
    paths,
    document,
    openapi: describeCompat(name, paths, summary, compat.bodyBytesMax),
    readsQuery: true,
    bodyBytesMax: compat.bodyBytesMax,
    refuse: (exchange) => compat.refuse(exchange),
    accept: (exchange, body, _parameter, query) => compat.accept(exchange, body, query, dialect),
  };
}

/** Size limit of the report that a library sends about itself, in bytes. */
const reportBytesMax = 64 * 1024;

/** Metrics of the browser library about itself. They are not kept, but without an answer the library would retry. */
function metricsRoute(): PostRoute {
  const summary = 'Metrics of the browser library about itself: accepted and discarded';
  return {
    name: 'spec-metrics',
    method: 'post',
    paths: ['/v1/m'],
    document,
    openapi: describeCompat('spec-metrics', ['/v1/m'], summary, reportBytesMax),
    bodyBytesMax: reportBytesMax,
    refuse: () => undefined,
    accept: (exchange) => exchange.send(accepted),
  };
}

function settingsRoute(admission: Admission, isSecure: boolean): GetRoute {
  return {
    name: 'segment-settings',
    method: 'get',
    paths: ['/v1/projects/:key/settings'],
    document,
    openapi: {
      paths: {
        '/v1/projects/{key}/settings': {
          get: {
            operationId: 'segmentSettings',
            summary: 'Settings of the browser library: it sends to this gateway only',
            parameters: [pathParameter('key', 'Source key')],
            responses: { 200: { description: 'The settings' }, 401: { description: 'No such key' } },
          },
        },
      },
    },
    accept(exchange, segment) {
      const key = decodeSegment(segment);
      const admitted = admission.admitToken(exchange, key, 0);
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      const { head } = exchange;
      // A page loaded over https may send over https only.
      const secure = isSecureRequest(head, isSecure) || head.origin.startsWith('https:');
      const origin = { host: head.host, protocol: secure ? 'https' : 'http' } as const;
      exchange.send(jsonReply(200, settingsOf(origin, key, admitted.source), { headers: keptBriefly }));
    },
  };
}

/**
 * The settings that `analytics-next` requests before it sends. Without `Segment.io` among the integrations it does not
 * send, and without `apiHost` it sends to Segment.
 */
function settingsOf(
  { host, protocol }: { readonly host: string; readonly protocol: 'http' | 'https' },
  key: string,
  source: PublishedSource,
): object {
  const segment = {
    apiKey: key,
    apiHost: `${host}/v1`,
    protocol,
    unbundledIntegrations: [],
    addBundledMetadata: false,
    versionSettings: { version: '4.4.7', componentTypes: ['browser'] },
  };
  return {
    integrations: { 'Segment.io': segment },
    plan: { track: { __default: { enabled: true, integrations: {} } } },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
    metrics: { sampleRate: 0 },
    sourceId: source.sourceId,
  };
}
