import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { Admission } from './ingest/admission.ts';
import { readTrustedProxies } from '../shared/admission/client-address.ts';
import type { PublishedSources } from './ingest/published-sources.ts';
import { createRoutes } from './routes/registry.ts';
import type { GatewayEnv } from './env.ts';
import { startCanary } from './status/canary.ts';
import { readGatewayStatusSettings } from './status/status-settings.ts';
import { BodyBudget } from './http/incoming-body.ts';
import { readGatewayHttpSettings } from './http/http-settings.ts';
import { RequestLimits } from './http/request-limits.ts';
import { startServer } from './http/server.ts';
import { RequestCounts } from './status/request-counts.ts';
import { openControlPlane, readExperimentsSettings } from './routes/experiments/control-plane.ts';
import { createUnpackingLimit, readRoutesSettings } from './routes/routes-settings.ts';
import { stepMs } from './end-process.ts';
import type { OpenedLog } from './open-log.ts';
import type { OpenedCommit } from './open-commit.ts';
import type { MetricsSources } from './status/show-metrics.ts';
import type { Server } from './http/server.ts';
import type { Canary } from './status/canary.ts';
import type { LoadedUws } from './http/uws.ts';

export type IngestParts = {
  readonly uws: LoadedUws;
  readonly log: OpenedLog;
  readonly opened: OpenedCommit;
  readonly sources: PublishedSources;
  readonly logger: Logger;
};

/** The parts of the server that metrics and readiness read. */
export type ServedIngest = Pick<MetricsSources, 'routes' | 'requests' | 'compatCounts' | 'limits'> & {
  readonly server: Server;
  readonly canary: Canary;
  readonly uws: LoadedUws;
};

/** Serves the routes. The server's name in `scope` is `http`. */
export async function serveIngest(
  env: GatewayEnv,
  { uws, log, opened, sources, logger }: IngestParts,
  scope: Scope,
): Promise<ServedIngest> {
  const { commit, committing, gate, writerId } = opened;
  const writing = { instanceId: log.instance.instanceId, writerId };
  const { clientAddress } = readTrustedProxies(env);
  const admission = new Admission(sources, clientAddress);
  const controlPlane = openControlPlane(readExperimentsSettings(env), logger);
  scope.use('control plane', controlPlane, (one) => withDeadline(one?.close() ?? Promise.resolve(), stepMs));
  const { bodies, requestsOfAddressMax, ...listening } = readGatewayHttpSettings(env);
  const unpacking = createUnpackingLimit();
  const { routes, compatCounts } = createRoutes({
    admission,
    sources,
    commit,
    experiments: { controlPlane, clientAddress },
    isSecure: listening.tls !== undefined,
    ...readRoutesSettings(env, log.partitions, log.connection.messageBytesMax, unpacking),
  });
  const requests = new RequestCounts(routes.length);
  const budget = new BodyBudget({
    ...bodies,
    addressOf: (exchange) => admission.addressOf(exchange),
  });
  const requestLimits = new RequestLimits({
    ofAddressMax: requestsOfAddressMax,
    addressOf: (exchange) => admission.addressOf(exchange),
  });
  const server = await startServer(uws.uws, {
    ...listening,
    routes,
    budget,
    requestLimits,
    onEnded: (route, code, tookMs) => requests.count(route, code, tookMs),
    onFailure: (error) => logger.error({ err: error }, 'handling a request failed'),
  });
  scope.use('http', server, (one) => one.close());

  const { canaryEveryMs } = readGatewayStatusSettings(env);
  const canarySettings = { ...writing, everyMs: canaryEveryMs, timeoutMs: committing.publishTimeoutMs };
  const canary = startCanary(log.connection, canarySettings, () => gate.noteAlive());
  scope.use('canary', canary, (one) => one.stop());
  const limits = { requests: requestLimits, bodies: budget, unpacking };
  return { server, canary, routes, requests, compatCounts, limits, uws };
}
