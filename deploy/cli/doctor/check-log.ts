import { judgeClock } from '../../../shared/doctor/judge-machine.ts';
import {
  judgeDurability,
  judgeIngestDeadLetters,
  judgeLog,
  judgeLogServer,
  judgeLosses,
} from '../../../shared/doctor/judge-log.ts';
import { judgeExposure } from '../../../shared/doctor/judge-exposure.ts';
import { judgeNatsServer } from '../../../shared/doctor/judge-versions.ts';
import { ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { readDurability } from '../../../shared/nats/monitor/read-durability.ts';
import { readLogServers } from '../../../shared/nats/monitor/read-log-servers.ts';
import { readExposure } from '../../../shared/nats/monitor/read-exposure.ts';
import { MonitorError, monitorUrls, readMonitor } from '../../../shared/nats/monitor/read-monitor.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { isNotPermitted } from '../../../shared/nats/connection/server-error.ts';
import { inspectLog } from '../../../shared/nats/monitor/inspect-log.ts';
import type { LogReport } from '../../../shared/nats/monitor/inspect-log.ts';
import { listLosses } from '../../../shared/nats/messages/lost-messages.ts';
import { readStreamLoss, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import type { StreamLoss } from '../../../shared/nats/streams/stream-progress.ts';
import { readTopologySettings } from '../../../shared/nats/streams/topology-settings.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { DoctorEnv } from './env.ts';
import { logUsers } from '../../../shared/nats/users/log-users.ts';
import { commandLogAccess } from './log-login.ts';

/** Connects to the log as a service does, and reads the configuration. */
export async function checkLog(env: DoctorEnv, connectTimeoutMs: number): Promise<Finding[]> {
  const connection = await connectLog({
    ...(await commandLogAccess(env, 'doctor')),
    name: 'sluice doctor',
    connectTimeoutMs,
    acceptsOldServer: true,
  });
  try {
    const { address, isEncrypted, version } = connection.server;
    return [
      ok('log', `connected to ${address}${isEncrypted ? ' over TLS' : ''}`),
      judgeNatsServer(version),
      ...(await checkStreams(connection, env)),
    ];
  } finally {
    await connection.close();
  }
}

async function checkStreams(connection: LogConnection, env: DoctorEnv): Promise<Finding[]> {
  try {
    const report = await inspectLog(connection, readTopologySettings(env));
    return [
      ...judgeLog(report),
      ...(await checkDeadLetters(connection, report)),
      ...(await checkLosses(connection, report)),
    ];
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    const advice = `run the doctor with NATS_USER=${logUsers.doctor.name} and its NATS_PASSWORD`;
    return [warn('streams', 'were not inspected: NATS_USER has no right to', advice)];
  }
}

async function checkDeadLetters(connection: LogConnection, { streams: found }: LogReport): Promise<Finding[]> {
  const isThere = found.some(
    ({ name, differences }) => name === streams.ingestDeadLetters && differences !== undefined,
  );
  if (!isThere) return [];
  const { messages } = await readStreamState(connection, streams.ingestDeadLetters);
  return [judgeIngestDeadLetters(messages)];
}

async function checkLosses(connection: LogConnection, { streams: found }: LogReport): Promise<Finding[]> {
  const byServer = new Map<string, StreamLoss>();
  for (const { name, differences } of found) {
    const loss = differences === undefined ? undefined : await readStreamLoss(connection, name);
    if (loss !== undefined) byServer.set(name, loss);
  }
  return judgeLosses(byServer, await listLosses(connection));
}

/** Checks that need the monitor ports: synced writes, server versions, limits, permissions and clocks. */
export async function checkMonitors(env: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  const durability = judgeDurability(await readDurability(env.NATS_MONITOR_URL, timeoutMs));
  const urls = monitorUrls(env.NATS_MONITOR_URL);
  const [servers, exposures, clocks] = await Promise.all([
    readLogServers(env.NATS_MONITOR_URL, timeoutMs),
    Promise.all(urls.map((url) => checkExposure(url, timeoutMs))),
    Promise.all(urls.map((url) => readClock(url, timeoutMs))),
  ]);
  return [durability, ...servers.flatMap(judgeLogServer), ...exposures.flat(), ...clocks.flat()];
}

async function checkExposure(url: string, timeoutMs: number): Promise<Finding[]> {
  try {
    return judgeExposure(await readExposure(url, timeoutMs));
  } catch (error) {
    // A server that does not respond is reported by the durability check.
    if (error instanceof MonitorError) return [];
    throw error;
  }
}

async function readClock(url: string, timeoutMs: number): Promise<Finding[]> {
  const [askedAt, started] = [Date.now(), performance.now()];
  try {
    const { now, server_name: name = 'nats-server' } = await readMonitor(url, timeoutMs);
    const tookMs = performance.now() - started;
    const theirs = Date.parse(now ?? '');
    return Number.isNaN(theirs) ? [] : [judgeClock(name, theirs - (askedAt + tookMs / 2), tookMs / 2)];
  } catch {
    // A missing response is reported by the durability check.
    return [];
  }
}
