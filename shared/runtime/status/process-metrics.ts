import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ClockWatch } from '../watch-clock.ts';
import { counter, gauge } from '../metrics/define-metric.ts';
import type { MetricsPage } from '../metrics/metrics-page.ts';
import { loopDelayEveryMs } from '../loop-delay.ts';
import { version } from '../version.ts';

/** Metrics of every service's process, in addition to Node's own (`nodejs_…`, `process_…`). */
export const processMetrics = {
  buildInfo: gauge('sluice_build_info', 'Always 1; the labels are the running versions', [
    'component',
    'version',
    'node_version',
  ]),
  configRevision: gauge('sluice_config_revision', 'Revision of the configuration in force'),
  readyCheck: gauge('sluice_ready_check', '1 while a condition of readiness holds, else 0', ['check']),
  eventLoopBusy: counter('sluice_event_loop_busy_seconds_total', 'Time the event loop of the main thread was busy'),
  clockJumps: counter('sluice_clock_jumps_total', 'Times the wall clock was changed by a second or more'),
  clockLastJump: gauge(
    'sluice_clock_last_jump_seconds',
    'Size of the last change of the wall clock: negative if it was set back, 0 before the first',
  ),
};

export type ProcessSources = {
  readonly component: 'gateway' | 'pipeline' | 'control-plane';
  readonly clock: Pick<ClockWatch, 'jumps' | 'lastJumpMs'>;
  configRevision(): number;
};

// Gauges whose names end in _total, which the naming rules reserve for counters.
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Adds the metrics of every service to the page; `serveStatus` adds readiness. */
export function showProcess(page: MetricsPage, { component, clock, configRevision }: ProcessSources): void {
  collectDefaultMetrics({ register: page.registry, eventLoopMonitoringPrecision: loopDelayEveryMs });
  removeMisnamed(page.registry);
  page.show(processMetrics.buildInfo, (add) => add(1, { component, version, node_version: process.versions.node }));
  page.show(processMetrics.configRevision, (add) => add(configRevision()));
  page.show(processMetrics.eventLoopBusy, (add) => add(performance.eventLoopUtilization().active / 1_000));
  page.show(processMetrics.clockJumps, (add) => add(clock.jumps));
  page.show(processMetrics.clockLastJump, (add) => add(clock.lastJumpMs / 1_000));
}

/** Removes Node's own metrics whose names break the naming rules. */
export function removeMisnamed(registry: Registry): void {
  for (const name of misnamed) registry.removeSingleMetric(name);
}
