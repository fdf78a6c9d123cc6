import { controlPlaneMetrics } from '../../control-plane/metrics.ts';
import { gatewayMetrics } from '../../gateway/status/metrics.ts';
import { outcomeMetrics, pipelineMetrics, workerMetrics } from '../../pipeline/status/metrics.ts';
import { configMetrics } from '../../shared/collections/unreadable-entities.ts';
import { logMetrics } from '../../shared/nats/monitor/log-metrics.ts';
import { databaseMetrics } from '../../shared/postgres/database-metrics.ts';
import type { AnyMetric } from '../../shared/runtime/metrics/define-metric.ts';
import { processMetrics } from '../../shared/runtime/status/process-metrics.ts';

/** Every metric there is, by who shows it. */
export const metricsByService: Readonly<Record<string, readonly AnyMetric[]>> = {
  'Every service': [...Object.values(processMetrics), ...Object.values(logMetrics), ...Object.values(configMetrics)],
  Gateway: Object.values(gatewayMetrics),
  Pipeline: [
    ...[...workerMetrics.values()].flatMap(({ byStat, families }) => [
      ...Object.values(byStat),
      ...families.map(({ definition }) => definition),
    ]),
    ...Object.values(outcomeMetrics.counters),
    ...Object.values(outcomeMetrics.gauges),
    ...Object.values(pipelineMetrics),
  ],
  'Control plane': Object.values(controlPlaneMetrics),
  'Pipeline and control plane': Object.values(databaseMetrics),
};

/** The reference page, made from the definitions. */
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

Made from the code by \`npm run generate\`; a test keeps it so. Each service shows its metrics at \`/metrics\` of its own
metrics port, beside Node's own figures (\`nodejs_…\`, \`process_…\`).

- Series are there from the start, with zero. Those of a destination end when it is published no more.
- \`destination_id\` is bounded by \`METRICS_DESTINATIONS_MAX\` (default 1,000); what is beyond is summed up as \`_other\`.
- Worker threads of a pipeline report to its main thread once a second. What a thread counted stays when it dies, and a
  thread that hangs does not hold up the page: \`sluice_thread_silence_seconds\` grows.
- Several gateways on one machine share their port (\`GATEWAY_REUSE_PORT=true\`), never the metrics port: each has its own
  \`GATEWAY_METRICS_PORT\` and is a target of its own, or a scrape would meet another process each time and counters would
  go up and down. Sum over \`instance\`.
- Of several pipelines each shows the actors it runs. Backlogs and the state of the log are read and shown by one of
  them; another takes over when it goes.`;
