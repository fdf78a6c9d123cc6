import { randomBytes } from 'node:crypto';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { readDrainOptions } from '../shared/runtime/drain-server.ts';
import type { GatewayEnv } from './env.ts';
import { endWithoutLog, stepMs } from './end-process.ts';
import { loadUws } from './http/uws.ts';
import { openLog } from './open-log.ts';
import { openCommit } from './open-commit.ts';
import { followConfiguration } from './follow-configuration.ts';
import { serveIngest } from './serve-ingest.ts';
import { serveGatewayStatus } from './serve-status.ts';

/** Builds and starts the gateway; `scope` ends its parts. Large: the composition root, one resource after the other. */
export async function startGateway(env: GatewayEnv, logger: Logger, scope: Scope): Promise<{ port: number }> {
  const instanceId = env.INSTANCE_ID ?? `gateway-${randomBytes(6).toString('hex')}`;
  const uws = loadUws();
  const log = await openLog(env, instanceId, logger, scope);
  const opened = openCommit(env, log, scope);
  const followed = await followConfiguration(env, log, opened, logger, scope);
  const served = await serveIngest(env, { uws, log, opened, sources: followed.sources, logger }, scope);
  await serveGatewayStatus(env, { log, opened, followed, served, logger }, scope);
  const { server } = served;
  scope.use('answers', server, async () => {
    await server.drain(readDrainOptions(env));
    await withDeadline(opened.commit.drained(), stepMs);
  });
  const { packageName, version } = uws;
  const { connection, partitions } = log;
  void connection.closed.then((error) => endWithoutLog(error, logger, scope));
  logger.info(
    { port: server.port, partitions, instanceId, uws: packageName, uwsVersion: version },
    'gateway listening',
  );
  return { port: server.port };
}
