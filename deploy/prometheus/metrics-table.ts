import { controlPlaneMetrics } from '../../control-plane/metrics.ts';
import { gatewayMetrics } from '../../gateway/status/metrics.ts';
import { outcomeMetrics, pipelineMetrics, workerMetrics } from '../../pipeline/status/metrics.ts';
import { configMetrics } from '../../shared/collections/unreadable-entities.ts';
import { logMetrics } from '../../shared/nats/monitor/log-metrics.ts';
import { databaseMetrics } from '../../shared/postgres/database-metrics.ts';
import type { AnyMetric } from '../../shared/runtime/metrics/define-metric.ts';
import { processMetrics } from '../../shared/runtime/status/process-metrics.ts';

/** Every metric, grouped by the services whose metrics pages show it. */
export const metricsByService: Readonly<Record<string, readonly AnyMetric[]>> = {
  'Every service': [...Object.values(processMetrics), ...Object.values(logMetrics), ...Object.values(configMetrics)],
  Gateway: Object.values(gatewayMetrics),
  Pipeline: [
    ...[...workerMetrics.values()].flatMap(({ byStat, byName, byAccount, families }) => [
      ...Object.values(byStat),
      ...families.map(({ definition }) => definition),
      ...[...byName.values()].map(({ definition }) => definition),
      ...Object.values(byAccount),
    ]),
    ...Object.values(outcomeMetrics.counters),
    ...Object.values(outcomeMetrics.gauges),
    ...Object.values(pipelineMetrics),
  ],
  'Control plane': Object.values(controlPlaneMetrics),
  'Pipeline and control plane': Object.values(databaseMetrics),
};

/** The reference page of all metrics, generated from their definitions. */
export function metricsTable(): string {
  const sections = Object.entries(metricsByService).map(([service, metrics]) =>
    [
      `## ${service}`,
      '',
      '| Metric | Type | Labels | Meaning |',
      '| --- | --- | --- | --- |',
      ...metrics.map(row),
    ].join('\n'),
  );
  return [intro, ...sections].join('\n\n');
}

function row({ name, kind, labels, help }: AnyMetric): string {
  const cells = [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', '), help.replaceAll('|', '\\|')];
  return `| ${cells.join(' | ')} |`;
}

const intro = `# Metrics

Each service shows its metrics at \`/metrics\` of its own metrics port, beside Node's own (\`nodejs_…\`, \`process_…\`).

- Series exist from the start, with zero. Series of a destination end when it is no longer published.
- \`destination_id\` has up to 1,000 values; the rest is summed up as \`_other\`.
- Threads of a pipeline report to its main thread once a second. Counts of a thread stay when it dies. A thread that hangs does not
  block the page: \`sluice_thread_silence_seconds\` grows.
- Gateways on one machine may share their port (\`GATEWAY_REUSE_PORT=true\`), never the metrics port: set \`GATEWAY_METRICS_PORT\` for each
  and make each a target. Sum over \`instance\`.
- Each pipeline shows the actors it runs. One of them reads and shows backlogs and the state of the log; another takes over if that one stops.`;
