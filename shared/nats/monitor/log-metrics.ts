import { counter, gauge } from '../../runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../../runtime/metrics/metrics-page.ts';
import type { ConnectedServer, LogConnection } from '../connection/connection.ts';
import { isNewEnough } from '../connection/server-version.ts';
import type { LogServer, LogServerStorage } from './read-log-servers.ts';
import type { LogServersWatch } from './watch-log-servers.ts';

/** Metrics of the log that every service has. */
export const logMetrics = {
  logConnected: gauge('sluice_log_connected', '1 while the main connection to the log is up, else 0'),
  logReconnects: counter('sluice_log_reconnects_total', 'Times the main connection to the log came back after a loss'),
  durabilityInfo: gauge(
    'sluice_log_durability_info',
    '1 for the mode in force: fsync if the log syncs every write, interval if a power cut may lose some, unknown if NATS_MONITOR_URL does not show it',
    ['mode', 'server_version'],
  ),
  logServerCheck: gauge(
    'sluice_log_server_check',
    '1 while a nats-server passes the check, else 0. version: it is new enough; health: its health page reports it healthy; limit_given: its configuration limits how much it may store; limit_enough: that is as much as its streams may take; cluster_tls: its routes need certificates, or it has no cluster port; answers: its monitor port, which `server` names, answers',
    ['server', 'check'],
  ),
  logServerLimit: gauge('sluice_log_server_limit_bytes', 'Storage limit of a nats-server for all streams together', [
    'server',
  ]),
  logServerReserved: gauge(
    'sluice_log_server_reserved_bytes',
    'Sum of the size limits of the streams on a nats-server',
    ['server'],
  ),
};

export type LogSources = {
  readonly connection: Pick<LogConnection, 'connected' | 'reconnects'> & {
    readonly server: Pick<ConnectedServer, 'name' | 'version'>;
  };
  readonly logServers: Pick<LogServersWatch, 'mode' | 'servers' | 'answers'>;
};

/** Adds the log metrics to a service's metrics page. */
export function showLog(page: MetricsPage, { connection, logServers }: LogSources): void {
  page.show(logMetrics.logConnected, (add) => add(connection.connected ? 1 : 0));
  page.show(logMetrics.logReconnects, (add) => add(connection.reconnects));
  page.show(logMetrics.durabilityInfo, (add) => {
    const server_version = connection.server.version ?? 'unknown';
    for (const mode of ['fsync', 'interval', 'unknown'])
      add(mode === logServers.mode ? 1 : 0, { mode, server_version });
  });
  showLogServers(page, connection, logServers);
}

function showLogServers(
  page: MetricsPage,
  connection: LogSources['connection'],
  logServers: LogSources['logServers'],
): void {
  page.show(logMetrics.logServerCheck, (add) => {
    for (const [server, check, holds] of checksOf(connection, logServers.servers))
      add(holds ? 1 : 0, { server, check });
    for (const [server, isAnswering] of logServers.answers) add(isAnswering ? 1 : 0, { server, check: 'answers' });
  });
  page.show(logMetrics.logServerLimit, (add) => {
    for (const { name, storage } of logServers.servers) if (storage) add(storage.limitBytes, { server: name });
  });
  page.show(logMetrics.logServerReserved, (add) => {
    for (const { name, storage } of logServers.servers) if (storage) add(storage.reservedBytes, { server: name });
  });
}

type ServerCheck = readonly [server: string, check: string, holds: boolean];

function checksOf({ server }: LogSources['connection'], servers: readonly LogServer[]): ServerCheck[] {
  const checks = servers.flatMap(({ name, version, complaint, storage, areRoutesEncrypted }): ServerCheck[] => [
    [name, 'version', isNewEnough(version)],
    [name, 'health', complaint === undefined],
    ...(storage === undefined ? [] : limitChecks(name, storage)),
    [name, 'cluster_tls', areRoutesEncrypted ?? true],
  ]);
  // The version of the connected server is known even if no monitor port reports it.
  const connected = server.name;
  if (connected === undefined || servers.some(({ name }) => name === connected)) return checks;
  return [...checks, [connected, 'version', isNewEnough(server.version ?? '')]];
}

const limitChecks = (name: string, { isLimitGiven, limitBytes, reservedBytes }: LogServerStorage): ServerCheck[] => [
  [name, 'limit_given', isLimitGiven],
  [name, 'limit_enough', limitBytes >= reservedBytes],
];
