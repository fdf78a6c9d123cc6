import { jsonReply, keptBriefly } from '../../http/reply.ts';
import type { GetRoute, PostRoute, Route } from '../../http/route.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import type { PublishedSource } from '../../ingest/published-sources.ts';
import { queryParameter } from '../openapi/parts.ts';
import type { CompatIntake } from './compat-intake.ts';
import { describeCompat } from './describe-compat.ts';
import { requestKey } from './source-key.ts';
import { specBatch } from './spec-message.ts';

/**
 * Requests of RudderStack's libraries (rudderstack.com/docs/api/http-api), apart from the paths under `/v1` that they
 * share with Segment's: beacons that a page sends while it closes, with the key in the query, and the configuration
 * that a browser library requests before it sends. Measured with `@rudderstack/analytics-js` 3.34.1,
 * `@rudderstack/rudder-sdk-node` 3.0.13 and the libraries for Python, Java and Rust.
 */
const document = 'rudderstack';

export function createRudderStackRoutes(compat: CompatIntake, admission: Admission): readonly Route[] {
  return [beaconRoute(compat), configRoute(admission)];
}

function beaconRoute(compat: CompatIntake): PostRoute {
  const paths = ['/beacon/v1/batch'];
  return {
    name: 'rudderstack-beacon',
    method: 'post',
    paths,
    document,
    openapi: describeCompat('rudderstack-beacon', paths, 'Many calls of a page that closes', compat.bodyBytesMax),
    readsQuery: true,
    bodyBytesMax: compat.bodyBytesMax,
    refuse: (exchange) => compat.refuse(exchange),
    accept: (exchange, body, _parameter, query) => compat.accept(exchange, body, query, specBatch),
  };
}

function configRoute(admission: Admission): GetRoute {
  return {
    name: 'rudderstack-config',
    method: 'get',
    paths: ['/sourceConfig'],
    document,
    openapi: {
      paths: {
        '/sourceConfig': {
          get: {
            operationId: 'rudderstackConfig',
            summary: 'Configuration of the libraries: they send to their data plane only',
            parameters: [queryParameter('writeKey')],
            responses: { 200: { description: 'The configuration' }, 401: { description: 'No such key' } },
          },
        },
      },
    },
    accept(exchange, _parameter, query) {
      const key = requestKey(exchange.head.authorization, undefined, query);
      const admitted = admission.admitToken(exchange, key, 0);
      if (!(admitted instanceof Admitted)) return exchange.send(admitted);
      exchange.send(jsonReply(200, configOf(admitted.source, key), { headers: keptBriefly }));
    },
  };
}

/** Libraries for Kotlin and Swift reject a configuration without `writeKey`, `workspaceId` and `updatedAt`. */
function configOf({ accountId, sourceId, name }: PublishedSource, writeKey: string | undefined): object {
  return {
    source: {
      id: sourceId,
      name,
      writeKey,
      workspaceId: accountId,
      updatedAt: '2026-01-01T00:00:00.000Z',
      enabled: true,
      config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
      destinations: [],
    },
  };
}
