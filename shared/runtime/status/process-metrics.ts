import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics } from 'prom-client';
import type { Registry } from 'prom-client';
import type { LogServer, LogServerStorage } from '../../nats/monitor/read-log-servers.ts';
import type { LogConnection } from '../../nats/connection/connection.ts';
import { isNewEnough } from '../../nats/connection/server-version.ts';
import type { LogServersWatch } from '../../nats/monitor/watch-log-servers.ts';
import type { ClockWatch } from '../watch-clock.ts';
import { counter, gauge } from '../metrics/define-metric.ts';
import type { MetricsPage } from '../metrics/metrics-page.ts';

/** What every service tells of itself, beside what Node's own figures (`nodejs_…`, `process_…`) say. */
export const processMetrics = {
  buildInfo: gauge('sluice_build_info', 'Always 1; the labels say what runs', ['component', 'version', 'node_version']),
  configRevision: gauge('sluice_config_revision', 'Revision of the configuration in force'),
  readyCheck: gauge('sluice_ready_check', '1 while a condition of readiness holds, else 0', ['check']),
  eventLoopBusy: counter('sluice_event_loop_busy_seconds_total', 'Time the event loop of the main thread was busy'),
  logConnected: gauge('sluice_log_connected', '1 while the main connection to the log is up, else 0'),
  logReconnects: counter('sluice_log_reconnects_total', 'Times the main connection to the log came back after a loss'),
  durabilityInfo: gauge(
    'sluice_log_durability_info',
    '1 for the mode in force: fsync where the log syncs every write, interval where a power cut may cost some, unknown where NATS_MONITOR_URL does not tell',
    ['mode', 'server_version'],
  ),
  logServerCheck: gauge(
    'sluice_log_server_check',
    '1 while it holds of a nats-server, else 0. version: new enough; health: its health page says so; limit_given: it was told how much it may store; limit_enough: that is as much as its streams may take',
    ['server', 'check'],
  ),
  logServerLimit: gauge('sluice_log_server_limit_bytes', 'What all streams on a nats-server may take together', [
    'server',
  ]),
  logServerReserved: gauge(
    'sluice_log_server_reserved_bytes',
    'What the streams on a nats-server may take by their own limits',
    ['server'],
  ),
  clockJumps: counter('sluice_clock_jumps_total', 'Times the wall clock was set by CLOCK_JUMP_MS or more'),
  clockLastJump: gauge(
    'sluice_clock_last_jump_seconds',
    'By how much the wall clock was set last; below 0 it was set back, 0 before the first time',
  ),
};

export type ProcessSources = {
  readonly component: 'gateway' | 'pipeline' | 'control-plane';
  readonly connection: Pick<LogConnection, 'connected' | 'reconnects'> & {
    readonly nc: { readonly info?: { readonly version: string; readonly server_name?: string } | undefined };
  };
  readonly logServers: Pick<LogServersWatch, 'mode' | 'servers'>;
  readonly clock: Pick<ClockWatch, 'jumps' | 'lastJumpMs'>;
  configRevision(): number;
};

// Gauges that end in _total: the naming rules keep that for counters.
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Shows what every service shows; readiness is added by whoever serves the page. */
export function showProcess(
  page: MetricsPage,
  { component, connection, logServers, clock, configRevision }: ProcessSources,
): void {
  collectDefaultMetrics({ register: page.registry });
  removeMisnamed(page.registry);
  const version = packageVersion();
  page.show(processMetrics.buildInfo, (add) => add(1, { component, version, node_version: process.versions.node }));
  page.show(processMetrics.configRevision, (add) => add(configRevision()));
  page.show(processMetrics.eventLoopBusy, (add) => add(performance.eventLoopUtilization().active / 1_000));
  page.show(processMetrics.logConnected, (add) => add(connection.connected ? 1 : 0));
  page.show(processMetrics.logReconnects, (add) => add(connection.reconnects));
  page.show(processMetrics.durabilityInfo, (add) => {
    const server_version = connection.nc.info?.version ?? 'unknown';
    for (const mode of ['fsync', 'interval', 'unknown'])
      add(mode === logServers.mode ? 1 : 0, { mode, server_version });
  });
  showLogServers(page, connection, logServers);
  page.show(processMetrics.clockJumps, (add) => add(clock.jumps));
  page.show(processMetrics.clockLastJump, (add) => add(clock.lastJumpMs / 1_000));
}

function showLogServers(
  page: MetricsPage,
  connection: ProcessSources['connection'],
  logServers: ProcessSources['logServers'],
): void {
  page.show(processMetrics.logServerCheck, (add) => {
    for (const [server, check, holds] of checksOf(connection, logServers.servers))
      add(holds ? 1 : 0, { server, check });
  });
  page.show(processMetrics.logServerLimit, (add) => {
    for (const { name, storage } of logServers.servers) if (storage) add(storage.limitBytes, { server: name });
  });
  page.show(processMetrics.logServerReserved, (add) => {
    for (const { name, storage } of logServers.servers) if (storage) add(storage.reservedBytes, { server: name });
  });
}

type ServerCheck = readonly [server: string, check: string, holds: boolean];

function checksOf({ nc: { info } }: ProcessSources['connection'], servers: readonly LogServer[]): ServerCheck[] {
  const checks = servers.flatMap(({ name, version, complaint, storage }): ServerCheck[] => [
    [name, 'version', isNewEnough(version)],
    [name, 'health', complaint === undefined],
    ...(storage === undefined ? [] : limitChecks(name, storage)),
  ]);
  // The one we talk to says its version without a monitor port.
  const connected = info?.server_name;
  if (connected === undefined || servers.some(({ name }) => name === connected)) return checks;
  return [...checks, [connected, 'version', isNewEnough(info?.version ?? '')]];
}

const limitChecks = (name: string, { isLimitGiven, limitBytes, reservedBytes }: LogServerStorage): ServerCheck[] => [
  [name, 'limit_given', isLimitGiven],
  [name, 'limit_enough', limitBytes >= reservedBytes],
];

/** Takes those of Node's own figures off a page whose names say they are something else. */
export function removeMisnamed(registry: Registry): void {
  for (const name of misnamed) registry.removeSingleMetric(name);
}

/** The version in the package.json above this file, compiled or not. */
function packageVersion(): string {
  for (
    let folder = new URL('../../metrics/', import.meta.url);
    folder.pathname !== '/';
    folder = new URL('../../', folder)
  ) {
    try {
      const { version } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version?: string };
      if (version !== undefined) return version;
    } catch {
      // Not in this folder.
    }
  }
  return 'unknown';
}
