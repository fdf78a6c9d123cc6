import { randomBytes } from 'node:crypto';
import { claimInstanceId } from '../shared/nats/buckets/instance-claim.ts';
import { holdProcessLease } from '../shared/nats/buckets/process-lease.ts';
import { checkAtStart } from '../shared/doctor/check-at-start.ts';
import { afterReconnect } from '../shared/nats/connection/after-reconnect.ts';
import { connectLog } from '../shared/nats/connection/connection.ts';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import { createFramePublisher } from '../shared/nats/publish/frame-publisher.ts';
import { awaitTrusted } from '../shared/nats/buckets/config-feed.ts';
import { openGatewayBuckets, openLeases } from '../shared/nats/buckets/open-buckets.ts';
import { ensureTopology, refuseFewerCopies, streams } from '../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../shared/nats/streams/topology-settings.ts';
import { CrowdPace } from './commit/crowd-pace.ts';
import { BucketCounts } from '../shared/runtime/metrics/bucket-counts.ts';
import { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import { showProcess } from '../shared/runtime/status/process-metrics.ts';
import { createUnreadableEntities, showUnreadable } from '../shared/collections/unreadable-entities.ts';
import { showLog } from '../shared/nats/monitor/log-metrics.ts';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import { readQuotaSettings } from '../shared/limits/index.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import { compileAddressRanges } from '../shared/admission/address-ranges.ts';
import { createSourceSecretBox } from '../shared/contracts/config/secrets.ts';
import { createConfigTrust } from '../shared/contracts/config/signed-config.ts';
import { activityHoursKept } from '../shared/contracts/activity-settings.ts';
import { Admission, readAdmissionSettings } from './ingest/admission.ts';
import { awaitAccounts } from './ingest/await-accounts.ts';
import { followBackpressure } from './ingest/backpressure.ts';
import { createClientAddress } from '../shared/admission/client-address.ts';
import { followSources } from './ingest/follow-sources.ts';
import { PublishedSources } from './ingest/published-sources.ts';
import { WaitingBytes } from './ingest/waiting-bytes.ts';
import { createSecretOpener } from './ingest/source-secrets.ts';
import { createRoutes } from './routes/registry.ts';
import type { GatewayEnv } from './env.ts';
import { readCommitSettings } from './commit/commit-settings.ts';
import { GroupCommit } from './commit/group-commit.ts';
import { LogGate } from './commit/log-gate.ts';
import { createStoreFrame } from './commit/store-frame.ts';
import { startCanary } from './status/canary.ts';
import { readinessChecks } from './status/readiness.ts';
import { reportActivity } from './status/report-activity.ts';
import { BodyBudget } from './http/incoming-body.ts';
import { readGatewayHttpSettings } from './http/http-settings.ts';
import { RequestLimits } from './http/request-limits.ts';
import { startServer } from './http/server.ts';
import { loadUws } from './http/uws.ts';
import { gatewayMetrics } from './status/metrics.ts';
import { RequestCounts } from './status/request-counts.ts';
import { connectControlPlane, readControlPlaneSettings } from './routes/experiments/control-plane.ts';
import type { ControlPlane } from './routes/experiments/control-plane.ts';
import { createUnpackingLimit, readEventBytesMax, readRoutesSettings } from './routes/routes-settings.ts';
import { showMetrics } from './status/show-metrics.ts';

/** Part of the stop deadline that is left for what comes behind the last answers, in ms. */
const closingMs = 2_000;
/** What one step of closing may take, in ms. */
const stepMs = 400;

/** Other streams may be missing while a gateway is upgraded first: a later service creates them. */
const streamsNeeded = [streams.ingest, streams.canary];

/**
 * Builds and starts the gateway; what it opens ends with `scope`.
 * Large: the composition root, one resource after the other.
 */
export async function startGateway(env: GatewayEnv, logger: Logger, scope: Scope): Promise<{ port: number }> {
  const instanceId = env.INSTANCE_ID ?? `gateway-${randomBytes(6).toString('hex')}`;
  // Frames of an earlier life of this instance must never pass for repeats of this one's.
  const writerId = `${instanceId}-${randomBytes(6).toString('hex')}`;
  const uws = loadUws();
  const trust = createConfigTrust(env);

  const connection = scope.use('log', await connectLog({ ...logAccess(env), name: instanceId }), (log) =>
    log.close(stepMs),
  );
  void checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger });
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  const instance = { kind: 'gateway', instanceId } as const;
  const holder = await claimInstanceId(await openLeases(connection, env.LOG_REPLICAS), instance);
  const topology = readTopologySettings(env);
  const { partitions } = await ensureTopology(connection, topology, undefined, streamsNeeded);
  const buckets = await openGatewayBuckets(connection, env.LOG_REPLICAS);
  const { messageBytesMax } = connection;
  if (readEventBytesMax(env, messageBytesMax) < env.TRACK_BODY_BYTES_MAX) {
    logger.warn({ messageBytesMax }, 'bodies are limited below TRACK_BODY_BYTES_MAX by max_payload of the log');
  }

  const committing = readCommitSettings(env, { partitions, replicas: env.LOG_REPLICAS, messageBytesMax });
  const publishTimes = new BucketCounts(gatewayMetrics.publishDuration.bounds);
  const gate = new LogGate(() => connection.connected);
  const storeSettings = { writerId, timeoutMs: committing.publishTimeoutMs };
  const publisher = createFramePublisher(connection);
  const store = createStoreFrame(publisher, storeSettings, (seconds) => publishTimes.observe(seconds));
  const pace = new CrowdPace(committing.rounds);
  const waiting = new WaitingBytes();
  const commit = new GroupCommit(committing, pace, gate, store, (partition, accountId, bytes) =>
    waiting.add(partition, accountId, bytes),
  );
  scope.use('frames', commit, (one) => one.stop());

  const sources = new PublishedSources(
    readAdmissionSettings(env).rates,
    createSecretOpener(createSourceSecretBox(env), logger),
  );
  const activity = reportActivity({
    bucket: buckets.health,
    instanceId,
    sources,
    hoursKept: activityHoursKept,
    onError: (error) => logger.warn({ err: error }, 'writing source activity failed'),
  });
  scope.use('source activity', activity, (one) => withDeadline(one.stop(), stepMs));
  const lease = holdProcessLease(buckets.leases, { ...instance, holder }, (error) =>
    logger.warn({ err: error }, 'renewing the lease failed'),
  );
  scope.use('lease', lease, (one) => withDeadline(one.release(), stepMs));
  const unreadable = createUnreadableEntities(logger);
  const published = { connection, replicas: env.LOG_REPLICAS, trust };
  const feed = await followSources(published, sources, lease, unreadable, logger);
  scope.use('configuration', feed, (one) => one.stop());
  // Before it knows the sources a gateway would answer 401 to all of them.
  await awaitTrusted(feed);
  await awaitAccounts(feed, logger);
  const intakes = () => sources.intakes;
  const backpressure = await followBackpressure({
    bucket: buckets.leases,
    connection,
    intakes,
    waiting,
    ingestBytesMax: env.LOG_INGEST_BYTES_MAX,
    quotas: readQuotaSettings(env),
    logger,
  });
  scope.use('backpressure', backpressure, (one) => one.stop());
  const reopening = afterReconnect(
    connection,
    async () => {
      const found = await ensureTopology(connection, topology, undefined, streamsNeeded);
      if (found.created.length > 0) logger.error({ created: found.created }, 'the log came back without its streams');
      if (found.partitions !== partitions) {
        logger.fatal({ from: partitions, to: found.partitions }, 'the number of partitions of the log has changed');
        await endProcess('partitions changed', scope);
      }
      await feed.restart();
    },
    (error) => logger.warn({ err: error }, 'reopening the log failed'),
  );
  scope.use('reopening', reopening, (one) => one.stop());

  const trusted = compileAddressRanges(env.TRUSTED_PROXIES);
  const clientAddress = createClientAddress(trusted, env.TRUSTED_PROXIES.length > 0);
  const admission = new Admission(sources, clientAddress);
  const controlPlane = openControlPlane(env, logger);
  scope.use('control plane', controlPlane, (one) => withDeadline(one?.close() ?? Promise.resolve(), stepMs));
  const { bodies, requestsOfAddressMax, ...listening } = readGatewayHttpSettings(env);
  const unpacking = createUnpackingLimit();
  const { routes, compatCounts } = createRoutes({
    admission,
    sources,
    commit,
    experiments: { controlPlane, clientAddress },
    isSecure: listening.tls !== undefined,
    ...readRoutesSettings(env, partitions, messageBytesMax, unpacking),
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

  const canarySettings = { instanceId, writerId, everyMs: env.CANARY_EVERY_MS, timeoutMs: committing.publishTimeoutMs };
  const canary = startCanary(connection, canarySettings, () => gate.noteAlive());
  scope.use('canary', canary, (one) => one.stop());

  const logServers = watchLogServers(env.NATS_MONITOR_URL);
  scope.use('log servers', logServers, (one) => one.stop());
  const clock = watchClock(logJump(logger));
  scope.use('clock', clock, (one) => one.stop());
  const page = new MetricsPage();
  const configRevision = (): number => feed.revision;
  showProcess(page, { component: 'gateway', clock, configRevision });
  showLog(page, { connection, logServers });
  showUnreadable(page, unreadable);
  const counted = {
    routes,
    requests,
    compatCounts,
    sources,
    backpressure,
    commit,
    commitSettings: committing,
    pace,
    publishTimes,
    gate,
    limits: { requests: requestLimits, bodies: budget, unpacking },
  };
  showMetrics(page, { ...counted, uws, server });
  const statusServer = await serveStatus({
    port: env.GATEWAY_METRICS_PORT,
    host: env.METRICS_HOST,
    portVariable: 'GATEWAY_METRICS_PORT',
    page,
    checks: readinessChecks({ connection, canary, gate, feed, logServers, scope }),
  });
  scope.use('status server', statusServer, (one) => one.close());
  scope.use('answers', server, async () => {
    await server.drain({
      acceptMs: env.SHUTDOWN_ACCEPT_MS,
      idleMs: env.SHUTDOWN_IDLE_MS,
      deadlineMs: Math.max(env.SHUTDOWN_DEADLINE_MS - closingMs, env.SHUTDOWN_DEADLINE_MS / 2),
    });
    await withDeadline(commit.drained(), stepMs);
  });

  void connection.closed.then((error) => endWithoutLog(error, logger, scope));
  const { packageName, version } = uws;
  logger.info(
    { port: server.port, partitions, instanceId, uws: packageName, uwsVersion: version },
    'gateway listening',
  );
  return { port: server.port };
}

function openControlPlane(env: GatewayEnv, logger: Logger): ControlPlane | undefined {
  const settings = readControlPlaneSettings(env);
  if (settings !== undefined) return connectControlPlane(settings);
  logger.info('experiments are not served here: CONTROL_PLANE_URL is not set');
  return undefined;
}

/** A gateway whose connection is closed for good can accept nothing: it ends, and its supervisor restarts it. */
async function endWithoutLog(error: Error | undefined, logger: Logger, scope: Scope): Promise<void> {
  if (scope.ending) return;
  logger.fatal({ err: error }, 'the connection to the log is closed for good');
  await endProcess('log closed', scope);
}

/** Ends in good order, with 1: the supervisor restarts it. */
async function endProcess(reason: string, scope: Scope): Promise<never> {
  await scope.end(reason);
  process.exit(1);
}
