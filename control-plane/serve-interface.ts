import { masksValues } from './account/endpoints.ts';
import { createDrainServer, readDrainOptions } from '../shared/runtime/drain-server.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { PortBusyError } from '../shared/runtime/status/serve-status.ts';
import { createReadAudit } from './audit/audit-reads.ts';
import { limitConnections, readConnectionLimits } from './api/connection-limits.ts';
import { createApp } from './api/create-app.ts';
import type { AppOptions } from './api/create-app.ts';
import { addDescriptionRoutes } from './api/description-routes.ts';
import { createHttpCounts } from './api/http-counts.ts';
import { readControlPlaneHttpSettings } from './api/http-settings.ts';
import { readProxies } from './api/proxies.ts';
import { createAccountLimits, readRequestLimitSettings } from './api/request-limits.ts';
import { whyLeftOut } from './compat/left-out.ts';
import { loadPages } from './console-host/load-pages.ts';
import { documents, endpoints } from './endpoints.ts';
import type { ControlPlaneEnv } from './env.ts';
import { serveExperiments } from './experiments/assignment/serve-experiments.ts';
import { grantingScope } from './keys/scopes.ts';
import { controlPlaneMetrics } from './metrics.ts';
import { openLogins } from './sessions/open-logins.ts';
import { addSignInRoutes } from './sign-in-routes.ts';
import type { MetricsSources } from './show-metrics.ts';
import type { Databases } from './store/open-databases.ts';

export type InterfaceParts = Pick<AppOptions, 'core' | 'services' | 'eventStreams'> & {
  readonly logins: Databases['logins'];
  readonly experiments: Parameters<typeof serveExperiments>[1]['experiments'];
  readonly logger: Logger;
};

/** The parts of the interface that the metrics page reads. */
export type Served = Pick<MetricsSources, 'http' | 'requestLimits' | 'connections' | 'refusedLogins'> & {
  readonly port: number;
};

/** Serves the configuration interface, the console and assignments to experiments. `scope` stops them as `http`. */
export async function serveInterface(env: ControlPlaneEnv, parts: InterfaceParts, scope: Scope): Promise<Served> {
  const { core, services, eventStreams, logger } = parts;
  const { clientAddress, addressOf, isProxy } = readProxies(env);
  const { secretBox, now } = core;
  const listening = readControlPlaneHttpSettings(env);
  const isTls = listening.tls !== undefined;
  const logins = openLogins(env, { storage: parts.logins, secretBox, logger, isTls, addressOf, now }, scope);
  const http = createHttpCounts(controlPlaneMetrics.requestDuration.bounds);
  const addPages = await loadPages(env.INGEST_URL);
  const requestLimits = {
    account: createAccountLimits(readRequestLimitSettings(env)),
    address: logins.requestLimits,
  };
  const app = createApp({
    authenticate: logins.principalOf,
    authenticateAgain: logins.principalAgain,
    grantingScope,
    masksPersonalData: (accountId) => masksValues(core.storage.fork(), accountId),
    auditRead: createReadAudit(core),
    requestLimits: requestLimits.account,
    eventStreams,
    endpoints,
    whyMissing: whyLeftOut,
    tls: listening.tls,
    core,
    services,
    logger,
    counts: http,
    addPublicRoutes: (instance) => {
      addDescriptionRoutes(instance, documents);
      addSignInRoutes(instance, env, {
        logins,
        logger,
        recheckStreams: (accountId) => eventStreams.recheck(accountId),
      });
      addPages(instance);
      serveExperiments(instance, { experiments: parts.experiments, clientAddress, counts: http, logger });
    },
  });
  const connections = limitConnections(app.server, { ...readConnectionLimits(env), isProxy });
  const drain = createDrainServer(app.server);
  const end = async (): Promise<void> => {
    await drain(readDrainOptions(env));
    await app.close();
  };
  // A load balancer reads `/readyz` while connections drain.
  scope.use('http', app, end, { endsBefore: 'status server' });
  await app.listen({ port: listening.port, host: listening.host }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new PortBusyError(`port ${listening.port} is in use: set CONTROL_PLANE_PORT to a free one`);
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : listening.port;
  return { port, http, requestLimits, connections, refusedLogins: logins.refusedLogins };
}
