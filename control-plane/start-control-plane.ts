import type { IncomingMessage } from 'node:http';
import type { Pool } from 'pg';
import { compileAddressRanges } from '../shared/admission/address-ranges.ts';
import { createClientAddress, splitProxies } from '../shared/admission/client-address.ts';
import { checkAtStart } from '../shared/doctor/check-at-start.ts';
import { readEgressRanges } from '../shared/egress/egress-rules.ts';
import { createTokenSource } from '../shared/egress/oauth/token-source.ts';
import { createBucketTokenStore } from '../shared/egress/oauth/token-store.ts';
import { connectLog } from '../shared/nats/connection/connection.ts';
import { followErasures } from '../shared/nats/erasures/follow-erasures.ts';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import { refuseFewerCopies } from '../shared/nats/streams/topology.ts';
import { poolFigures } from '../shared/postgres/database-metrics.ts';
import { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import { showProcess } from '../shared/runtime/status/process-metrics.ts';
import { createUnreadableEntities, showUnreadable } from '../shared/collections/unreadable-entities.ts';
import { showLog } from '../shared/nats/monitor/log-metrics.ts';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import { createDrainServer } from '../shared/runtime/drain-server.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { PortBusyError } from '../shared/runtime/status/serve-status.ts';
import type { ReadyCheck } from '../shared/runtime/status/serve-status.ts';
import type { Shutdown } from '../shared/runtime/shutdown.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { readDeploymentId } from '../shared/postgres/deployment-id.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { migrationList } from '../shared/postgres/migrations/migration-list.ts';
import { openStorage } from '../shared/postgres/open-storage.ts';
import { readRoles } from '../shared/postgres/roles/role-settings.ts';
import { createSecretBox, createSourceSecretBox, readSecretKeys } from '../shared/contracts/config/secrets.ts';
import { createVisitorPool } from '../shared/visitors/visitor-pool.ts';
import { readTopologySettings } from '../shared/nats/streams/topology-settings.ts';
import type { ActivityKey } from './activity/endpoints.ts';
import { readActivity } from './activity/read-activity.ts';
import { limitConnections, readConnectionLimits } from './api/connection-limits.ts';
import { createApp } from './api/create-app.ts';
import { readTlsTexts } from './api/http-settings.ts';
import { createEventStreams, readEventStreamSettings } from './api/event-streams.ts';
import { createHttpCounts } from './api/http-counts.ts';
import { createAccountShares, createLoginShares } from './api/request-shares.ts';
import { createPaginator } from './api/pagination.ts';
import { addDescriptionRoutes } from './api/description-routes.ts';
import { createPolledFeeds } from './api/polled-feeds.ts';
import { bootstrap } from './bootstrap/bootstrap.ts';
import { loadConsole } from './console-host/serve-console.ts';
import { loadDocs } from './console-host/serve-docs.ts';
import { whyLeftOut } from './compat/left-out.ts';
import {
  createDestinationTests,
  destinationTests as destinationTestsService,
} from './destinations/destination-tests.ts';
import { documents, endpoints } from './endpoints.ts';
import { readNewestEvents } from './events/read-newest-events.ts';
import type { ControlPlaneEnv } from './env.ts';
import { createAssigner } from './experiments/assignment/assigner.ts';
import { countAssignments } from './experiments/assignment/assignment-store.ts';
import { createAssignmentShares } from './experiments/assignment/assignment-shares.ts';
import { createExperimentLimits, readExperimentRates } from './experiments/assignment/experiment-limits.ts';
import { serveExperiments } from './experiments/assignment/serve-experiments.ts';
import { createExperimentPlans } from './experiments/assignment/experiment-plans.ts';
import { createExperimentService } from './experiments/assignment/experiment-service.ts';
import { createImpressionLog } from './experiments/assignment/impression-log.ts';
import { monitorDatabase, storagePoolFigures } from './health/database-monitor.ts';
import { createLiveValues, liveValues as liveValuesService } from './health/live-values.ts';
import { createLogFigures, logFigures as logFiguresService } from './health/log-figures.ts';
import { createAuthenticate } from './keys/authenticate.ts';
import { createLogIn } from './keys/log-in.ts';
import { createRefusalLimits, readRefusalLimits } from './keys/refusal-limits.ts';
import { createRefusedLogins } from './keys/refused-logins.ts';
import { hasScope } from './keys/scopes.ts';
import { controlPlaneMetrics } from './metrics.ts';
import { createWorkCache, work as workService, configRevision as configRevisionService } from './operate/endpoints.ts';
import { createAlertsReader, alerts as alertsService } from './operate/read-alerts.ts';
import { createFindingsReader, findings as findingsService } from './operate/read-findings.ts';
import { createConfigPublisher } from './publishing/config-publisher.ts';
import { competeForLeadership } from './publishing/leader-lock.ts';
import {
  createLeaseCache,
  createPublishingService,
  leases as leasesService,
  publishing as publishingService,
} from './publishing/publishing-service.ts';
import { openLogBuckets } from './publishing/log-buckets.ts';
import { createReplayService, readDeadLetterBounds, replays as replaysService } from './replays/replay-service.ts';
import type { CoreServices } from './api/define-endpoint.ts';
import { createServices } from './api/services.ts';
import { createErasureService, erasures as erasuresService } from './visitors/erasure-service.ts';
import { authorizationOf } from './sessions/session-cookie.ts';
import { addSessionRoutes } from './sessions/session-routes.ts';
import { showMetrics } from './show-metrics.ts';
import { readAccountLimits } from './store/account-limits.ts';
import { recheckStreams as recheckStreamsService } from './keys/endpoints.ts';
import {
  guardsBacklogs as guardsBacklogsService,
  backlogAgeMs as backlogAgeMsService,
} from './versions/backlogs-left.ts';
import { activityFeeds as activityFeedsService } from './activity/endpoints.ts';
import { eventFeeds as eventFeedsService } from './events/endpoints.ts';
import { signInLinkMs as signInLinkMsService } from './sessions/endpoints.ts';
import { sourceSecrets as sourceSecretsService } from './sources/source-secrets.ts';
import { ingestUrl as ingestUrlService } from './sources/ingest-url.ts';

export type ControlPlane = {
  /** The port the configuration interface listens on. */
  readonly port: number;
  readonly checks: readonly ReadyCheck[];
  /** What it tells of itself. */
  readonly page: MetricsPage;
};

/** Connections for reading visitors and recent events, beside those of the configuration. */
const visitorConnectionsMax = 4;
/** Connections for assignments to experiments, which must not wait for those who look at events. */
const assignmentConnectionsMax = 4;

/** Part of the stop deadline that is left for what comes behind the last answers, in ms. */
const closingMs = 2_000;

/** What ends, from the first to the last: no request is taken any more, then nothing is published, then the connections go. */
const stopOrder = [
  'stop watching the clock',
  'stop watching the log servers',
  'stop tests of destinations',
  'stop answering',
  'stop publisher',
  'stop leading',
  'stop following erasures',
  'stop following the log',
  'close log',
  'stop database monitor',
  'close assignments',
  'close visitors',
  'close logins',
  'close database',
] as const;

/** Builds the control plane from its environment and starts it; what it starts is stopped by `shutdown`. */
export async function startControlPlane(
  env: ControlPlaneEnv,
  logger: Logger,
  shutdown: Shutdown,
): Promise<ControlPlane> {
  const endsAs = shutdown.inOrder(stopOrder);
  const now = (): Date => new Date();
  const secretKeys = readSecretKeys(env);
  const secretBox = createSecretBox(...secretKeys);
  const sourceSecrets = createSourceSecretBox(env);
  const access = databaseAccess(env);
  const limits = readAccountLimits(env);
  if (env.MIGRATE_ON_START) await migrate(access.databaseUrl, access.databaseTls, migrationList, readRoles(env));

  const storage = await openStorage({
    ...access,
    connectionsMax: env.CONTROL_PLANE_DATABASE_CONNECTIONS_MAX,
  });
  endsAs('close database', () => storage.close());
  const logins = await openStorage({ ...access, connectionsMax: env.CONTROL_PLANE_LOGIN_CONNECTIONS_MAX });
  endsAs('close logins', () => logins.close());
  const openPool = (name: string, connectionsMax: number, forceIndexScans: boolean): Pool =>
    createVisitorPool({
      ...access,
      connectionsMax,
      name,
      forceIndexScans,
      onIdleError: (error) => logger.warn({ err: error }, 'a connection to PostgreSQL broke'),
    });
  const pool = openPool('sluice control plane', visitorConnectionsMax, false);
  endsAs('close visitors', () => pool.end());
  const assignmentPool = openPool('sluice assignments', assignmentConnectionsMax, true);
  endsAs('close assignments', () => assignmentPool.end());
  const database = monitorDatabase(storage);
  endsAs('stop database monitor', () => database.stop());

  const connection = await connectLog({ ...logAccess(env), name: 'sluice control plane' });
  endsAs('close log', () => connection.close());
  void checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger });
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  const liveValues = createLiveValues();
  const leases = createLeaseCache();
  const work = createWorkCache();
  const unreadable = createUnreadableEntities(logger);
  const experimentPlans = createExperimentPlans(logger, unreadable);
  const logBuckets = await openLogBuckets({
    connection,
    deploymentId: await readDeploymentId(access),
    topology: readTopologySettings(env),
    logger,
    async onOpened({ config, health, leases: leaseBucket }) {
      await Promise.all([
        experimentPlans.follow(config),
        liveValues.follow(health),
        leases.follow(leaseBucket),
        work.follow(leaseBucket),
      ]);
    },
  });
  endsAs('stop following the log', () => {
    logBuckets.stop();
    experimentPlans.stop();
    liveValues.stop();
    leases.stop();
    work.stop();
  });

  const erasures = followErasures({
    connection,
    onError: (err) => logger.warn({ err }, 'reading erasures failed; dead letters are not shown until it succeeds'),
  });
  endsAs('stop following erasures', () => erasures.stop());

  if (env.BOOTSTRAP_FILE !== undefined) {
    const did = await bootstrap({
      storage,
      secretBox,
      file: env.BOOTSTRAP_FILE,
      sinkUrl: env.BOOTSTRAP_SINK_URL,
      limits,
      now,
    });
    logger.info({ did }, 'bootstrap done');
  }

  const wake = (): void => publisher.wake();
  const lock = competeForLeadership({ ...access, logger, onWake: () => wake() });
  const publisher = createConfigPublisher({
    storage,
    logBuckets,
    logger,
    pushBytesPerS: env.CONFIG_PUSH_BYTES_PER_S,
    leading: () => lock.leading,
    now,
  });
  endsAs('stop leading', () => lock.stop());
  endsAs('stop publisher', () => publisher.stop());

  const destinationTests = createDestinationTests({
    egress: readEgressRanges(env),
    timeoutMs: env.DESTINATION_TEST_TIMEOUT_MS,
    runningMax: env.DESTINATION_TESTS_MAX,
    tokens: createTokenSource({ store: createBucketTokenStore(() => logBuckets.buckets.tokens, secretBox) }),
  });
  const logFigures = createLogFigures({ connection, partitions: () => logBuckets.partitions, now });
  const onFailure = (err: unknown): void => logger.warn({ err }, 'polling for configuration changes failed');
  const activityFeeds = createPolledFeeds<ActivityKey, unknown>({
    everyMs: env.CONSOLE_ACTIVITY_EVERY_MS,
    load: ({ accountId, range }) => readActivity({ storage, liveValues, leases, logFigures, now }, accountId, range),
    onFailure,
  });
  const eventFeeds = createPolledFeeds<string, unknown>({
    everyMs: env.CONSOLE_EVENTS_EVERY_MS,
    load: (accountId) => readNewestEvents(pool, accountId, now().getTime()),
    onFailure,
  });
  const eventStreams = createEventStreams(readEventStreamSettings(env));
  const core: CoreServices = { storage, pool, secretBox, limits, paginator: createPaginator(...secretKeys), now };
  const services = createServices();
  services.provide(recheckStreamsService, (accountId) => eventStreams.recheck(accountId));
  services.provide(leasesService, leases);
  services.provide(workService, work);
  services.provide(alertsService, createAlertsReader(env.PROMETHEUS_URL));
  services.provide(guardsBacklogsService, env.PUBLISH_GUARDS_BACKLOGS);
  services.provide(backlogAgeMsService, env.PUBLISH_BACKLOG_AGE_MS);
  services.provide(logFiguresService, logFigures);
  services.provide(activityFeedsService, activityFeeds);
  services.provide(eventFeedsService, eventFeeds);
  services.provide(
    findingsService,
    createFindingsReader({
      connection,
      topology: readTopologySettings(env),
      monitorUrls: env.NATS_MONITOR_URL,
      now,
    }),
  );
  services.provide(configRevisionService, () => experimentPlans.revision);
  services.provide(signInLinkMsService, env.CONSOLE_SIGN_IN_LINK_MS);
  services.provide(sourceSecretsService, sourceSecrets);
  services.provide(liveValuesService, liveValues);
  services.provide(ingestUrlService, env.INGEST_URL);
  services.provide(
    publishingService,
    createPublishingService({ storage, logBuckets, leases, documentBytesMax: env.CONFIG_BYTES_MAX, wake }),
  );
  services.provide(replaysService, createReplayService(logBuckets, readDeadLetterBounds(env), erasures));
  services.provide(erasuresService, createErasureService(connection, logger));
  services.provide(destinationTestsService, destinationTests);
  const impressions = createImpressionLog({ connection, partitions: () => logBuckets.partitions });
  const proxies = splitProxies(env.TRUSTED_PROXIES);
  const proxyRanges = compileAddressRanges(proxies);
  const clientAddress = createClientAddress(proxyRanges, proxies.length > 0);
  const experimentLimits = createExperimentLimits(readExperimentRates(env));
  const assignmentsMax = env.EXPERIMENT_ASSIGNMENTS_MAX;
  const assignmentShares = createAssignmentShares({
    assignmentsMax,
    count: (accountId) => countAssignments(assignmentPool, accountId, assignmentsMax),
    nowMs: () => performance.now(),
  });
  const assigner = createAssigner({
    pool: assignmentPool,
    impressions,
    limits: experimentLimits,
    shares: assignmentShares,
    waitingMax: env.EXPERIMENT_WAITING_MAX,
    now,
  });
  const experiments = createExperimentService(experimentPlans, assigner);
  const refusedLogins = createRefusedLogins({ storage: logins, logger, now });
  shutdown.add('note refused keys', () => refusedLogins.stop());
  const authenticate = createAuthenticate(env.SYSTEM_FIND_WITH_ALL);
  const http = createHttpCounts(controlPlaneMetrics.requestDuration.bounds);
  const addConsole = await loadConsole();
  const addDocs = await loadDocs(env.INGEST_URL);
  const isTls = env.CONTROL_PLANE_TLS_CERT !== undefined;
  const shares = { account: createAccountShares(env), address: createLoginShares(env) };
  const addressOf = ({ socket, headers }: IncomingMessage): string =>
    clientAddress.ofText(socket.remoteAddress ?? '', String(headers['x-forwarded-for'] ?? ''));
  const refusalLimits = createRefusalLimits(readRefusalLimits(env));
  const logIn = createLogIn({ authenticate, refusedLogins, refusalLimits, addressOf });
  /** Work for a request of which nobody knows yet whose it is. */
  const amongLogins = async <Result>(request: IncomingMessage, work: () => Promise<Result>) => {
    const admitted = shares.address.enter(addressOf(request));
    try {
      return await admitted.run(work);
    } finally {
      admitted.leave();
    }
  };
  const app = createApp({
    authenticate: (request) =>
      amongLogins(request, async () => {
        const em = logins.fork();
        const at = now();
        return logIn(em, request, await authorizationOf(em, request.headers, secretBox, at), at);
      }),
    async authenticateAgain({ headers }) {
      const em = logins.fork();
      const at = now();
      return authenticate(em, await authorizationOf(em, headers, secretBox, at), at);
    },
    hasScope,
    shares: shares.account,
    eventStreams,
    endpoints,
    whyMissing: whyLeftOut,
    tls: readTlsTexts(env),
    core,
    services,
    logger,
    counts: http,
    addPublicRoutes: (instance) => {
      addDescriptionRoutes(instance, documents);
      const sessions = {
        storage: logins,
        amongLogins,
        secretBox,
        authenticate,
        logIn,
        now,
        isTls,
        sessionMs: env.CONSOLE_SESSION_MS,
        recheckStreams: (accountId: string) => eventStreams.recheck(accountId),
      };
      addSessionRoutes(instance, sessions);
      addDocs(instance);
      addConsole(instance);
      serveExperiments(instance, { experiments, clientAddress, counts: http, logger });
    },
  });
  const connections = limitConnections(app.server, {
    ...readConnectionLimits(env),
    isProxy: (address) => proxyRanges.includes(address),
  });
  const drain = createDrainServer(app.server);
  endsAs('stop answering', async () => {
    await drain({
      acceptMs: env.SHUTDOWN_ACCEPT_MS,
      idleMs: env.SHUTDOWN_IDLE_MS,
      deadlineMs: Math.max(env.SHUTDOWN_DEADLINE_MS - closingMs, env.SHUTDOWN_DEADLINE_MS / 2),
    });
    await app.close();
  });
  // Before that: they would go on for as long as anybody looks at them.
  shutdown.add('end live views', () => {
    eventStreams.stop();
    activityFeeds.stop();
    eventFeeds.stop();
  });
  // Before that: an answer would wait for a test that is under way.
  endsAs('stop tests of destinations', () => destinationTests.stop());
  await app.listen({ port: env.CONTROL_PLANE_PORT, host: env.CONTROL_PLANE_HOST }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new PortBusyError(`port ${env.CONTROL_PLANE_PORT} is in use: set CONTROL_PLANE_PORT to a free one`);
  });
  const address = app.server.address();
  const logServers = watchLogServers(env.NATS_MONITOR_URL);
  endsAs('stop watching the log servers', () => logServers.stop());
  const clock = watchClock(env.CLOCK_JUMP_MS, logJump(logger));
  endsAs('stop watching the clock', () => clock.stop());
  const page = new MetricsPage();
  // Every control plane follows the bucket, whichever of them writes to it.
  showProcess(page, { component: 'control-plane', clock, configRevision: () => experimentPlans.revision });
  showLog(page, { connection, logServers });
  showUnreadable(page, unreadable);
  const pools = {
    configuration: () => storagePoolFigures(storage),
    logins: () => storagePoolFigures(logins),
    visitors: () => poolFigures(pool),
    assignments: () => poolFigures(assignmentPool),
  };
  showMetrics(page, {
    http,
    shares,
    connections,
    experimentLimits,
    assignmentShares,
    refusedLogins,
    publisher,
    destinationTests,
    pools,
    leading: () => lock.leading,
  });
  const log: ReadyCheck = {
    name: 'log',
    check: () => (connection.problem === undefined ? { ok: true } : { ok: false, detail: connection.problem }),
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : env.CONTROL_PLANE_PORT,
    checks: [database.check, log],
    page,
  };
}
