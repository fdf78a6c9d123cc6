import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { controlPlaneMetrics } from '../../control-plane/metrics.ts';
import { readGatewayEnv } from '../../gateway/env.ts';
import { gatewayMetrics } from '../../gateway/status/metrics.ts';
import { pipelineMetrics, workerMetrics } from '../../pipeline/status/metrics.ts';
import { unknownVariables } from '../testing/service-environments.ts';
import { chartFolder, readChart } from './testing/read-chart.ts';
import type { Chart } from './testing/read-chart.ts';

let templates: Chart['templates'];
beforeAll(async () => {
  ({ templates } = await readChart());
});

/** Variables that Node itself reads. */
const nodeVariables = ['NODE_EXTRA_CA_CERTS'];

const everyTemplate = (): string => [...templates.values()].join('\n');

test('templates: every block has its end', () => {
  for (const [name, text] of templates) {
    const opened = text.match(/\{\{-? *(?:if|range|with|define|block)\b/g)?.length ?? 0;
    const closed = text.match(/\{\{-? *end *-?\}\}/g)?.length ?? 0;
    expect({ name, closed }).toEqual({ name, closed: opened });
    expect(text.match(/\{\{/g)?.length).toBe(text.match(/\}\}/g)?.length);
  }
});

test('templates: every included template is defined', () => {
  const defined = new Set([...everyTemplate().matchAll(/define "([^"]+)"/g)].map(([, name]) => name));
  const included = [...everyTemplate().matchAll(/include "([^"]+)"/g)].map(([, name]) => name);
  expect(included.length).toBeGreaterThan(20);
  expect(included.filter((name) => !defined.has(name))).toEqual([]);
});

test.each(['gateway', 'pipeline', 'control-plane'] as const)(
  'templates: %s: its variables are known to it',
  (service) => {
    const text = `${templates.get(`${service}.yaml`)}${templates.get('_pod.tpl')}`;
    // The value of a Secret is mounted as a file, whose path is in `<name>_FILE`.
    const named = [...text.matchAll(/"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"(?: (\(dict "secret"|\.Values\.secretsKey))?/g)]
      .map(([, name, secret]) => (secret === undefined ? `${name}` : `${name}_FILE`))
      .filter((name) => !nodeVariables.includes(name));
    expect(named.length).toBeGreaterThan(3);
    expect(unknownVariables(service, named)).toEqual([]);
  },
);

test.each(['gateway', 'control-plane'] as const)(
  'templates: %s: with a Secret it is given a certificate and its key',
  (service) => {
    const given = templates.get(`${service}.yaml`)?.matchAll(/"([A-Z_]+)" \(dict "secret" \. "key" "([^"]+)"\)/g) ?? [];
    const prefix = service.replace('-', '_').toUpperCase();
    expect([...given].map(([, name, key]) => [name, key])).toEqual([
      [`${prefix}_TLS_CERT`, 'tls.crt'],
      [`${prefix}_TLS_KEY`, 'tls.key'],
    ]);
  },
);

test('templates: clients of a gateway or the control plane use its scheme, and gateways trust its authorities', () => {
  for (const [name, text] of templates) {
    if (name !== 'NOTES.txt') expect({ name, urls: text.match(/https?:\/\//g) }).toEqual({ name, urls: null });
  }
  const gateway = templates.get('gateway.yaml') ?? '';
  expect(gateway).toMatch(/"CONTROL_PLANE_URL" \(printf "%s:.* \(include "sluice.scheme" \.Values\.controlPlane\)/);
  expect(templates.get('tests/ingest.yaml')).toContain(`'{{ include "sluice.scheme" .Values.gateway }}://`);
  const file = /"files" \(dict "([^"]+)" \.\)/.exec(gateway)?.[1];
  expect(gateway).toContain(`"NODE_EXTRA_CA_CERTS" "/run/secrets/sluice/${file}"`);
  // Certificates are for the interfaces only: metrics and health are requested by plain HTTP.
  expect(templates.get('_pod.tpl')?.match(/httpGet: \{[^}]*\}/g)).toEqual([
    'httpGet: { path: /livez, port: metrics }',
    'httpGet: { path: /livez, port: metrics }',
    'httpGet: { path: /readyz, port: metrics }',
  ]);
});

test('templates: install scripts name the ingress unless INGEST_URL is set, and the notes say where neither is', () => {
  const address = templates.get('_names.tpl')?.split('define "sluice.ingestUrl"')[1]?.split('define')[0] ?? '';
  expect(address).toContain('merge (dict) .Values.controlPlane.env .Values.env');
  expect(address).toContain('ternary "https" "http" (not (empty $ingress.tlsSecret)) }}://{{ $ingress.host }}');
  // The address of no gateway has a wildcard.
  expect(address).toContain('and $ingress.enabled (not (contains "*" $ingress.host))');
  expect(templates.get('control-plane.yaml')).toMatch(/with include "sluice.ingestUrl" \. \}\}[^\n]*"INGEST_URL" \./);
  expect(templates.get('NOTES.txt')).toContain('if not (include "sluice.ingestUrl" .)');
});

test('templates: containers use the ports that the services listen on, and get no variables with the addresses of Services', () => {
  const gateway = readGatewayEnv({});
  const text = templates.get('gateway.yaml');
  expect(text).toContain(`"port" ${gateway.GATEWAY_PORT} "metricsPort" ${gateway.GATEWAY_METRICS_PORT}`);
  for (const [, port, metricsPort] of everyTemplate().matchAll(/"port" (\d+) "metricsPort" (\d+)/g)) {
    expect(everyTemplate()).toMatch(new RegExp(`_PORT" ${port}\\b`));
    expect(everyTemplate()).toMatch(new RegExp(`_METRICS_PORT" ${metricsPort}\\b`));
    expect(templates.get('network-policy.yaml')).toContain(String(metricsPort));
  }
  for (const name of ['_pod.tpl', 'migrate.yaml', 'tests/ingest.yaml']) {
    expect(templates.get(name)).toContain('enableServiceLinks: false');
  }
});

test('templates: a host may be a wildcard, which YAML would take for an alias', () => {
  const hosts = templates.get('gateway.yaml')?.match(/\{\{ [^}]*\.host [^}]*\}\}/g) ?? [];
  expect(hosts).toHaveLength(2);
  for (const host of hosts) expect(host).toContain('| quote }}');
});

test('templates: policies let services reach the log and the database, be they pods or addresses', () => {
  const egress = templates.get('network-policy.yaml')?.split('  egress:')[1] ?? '';
  expect(egress).toContain('- namespaceSelector: {}\n');
  expect(egress).toContain('cidr: 0.0.0.0/0');
  expect(egress).toContain('port: 53');
});

test('templates: a pod that sends to destinations can reach neither the pods of the chart nor a blocked range', () => {
  const policy = templates.get('network-policy.yaml') ?? '';
  const egress = policy.split('  egress:')[1] ?? '';
  expect(policy).toContain('{{- $sends := ne $component "gateway" }}');
  expect(egress).toMatch(
    /if \$sends \}\}[^{]*podSelector:\n *matchExpressions: \[\{ key: app.kubernetes.io\/name, operator: NotIn, values: \[sluice\] \}\]/,
  );
  expect(egress.match(/ternary \$denied[46] list \$sends/g)).toHaveLength(2);
  for (const name of ['pipeline.yaml', 'control-plane.yaml']) {
    for (const variable of ['EGRESS_ALLOW', 'EGRESS_DENY']) expect(templates.get(name)).toContain(`"${variable}"`);
  }
});

test("templates: a service's own secrets override the secrets of all services", () => {
  expect(templates.get('_pod.tpl')).toContain('merge (dict) (.settings.secrets | default dict) .secrets');
  expect(templates.get('migrate.yaml')).toContain('merge (dict) (.Values.migrate.secrets | default dict)');
});

test('templates: alerts link to the runbook at the configured address', async () => {
  const rules = await readFile(join(chartFolder, 'files/rules/alerts.yml'), 'utf8');
  const place = /\| replace "(runbook_url: [^"]+)" \$runbook \|/.exec(templates.get('monitoring.yaml') ?? '')?.[1];
  const links = rules.match(/^ *runbook_url:.*$/gm) ?? [];
  expect(links.length).toBeGreaterThan(10);
  // Every URL is rewritten, and keeps its page and section after the new base.
  const base = 'https://git.example/runbook/';
  const rewritten = rules.replaceAll(place ?? '-', `runbook_url: ${base}`);
  const urls = [...rewritten.matchAll(/^ *runbook_url: (.*)$/gm)].map(([, url]) => url);
  expect(urls).toHaveLength(links.length);
  for (const url of urls) expect(url).toMatch(/^https:\/\/git\.example\/runbook\/alerts\.md#sluice[a-z]+$/);
});

test('templates: pipelines keep their number while Prometheus has no backlog to report', () => {
  const scaled = templates.get('pipeline.yaml')?.split('kind: ScaledObject')[1] ?? '';
  // KEDA then reports no metric, and the HorizontalPodAutoscaler that it makes does not scale.
  expect(scaled).toContain('ignoreNullValues: "false"');
  expect(scaled).not.toContain('fallback:');
  // Resolvers always report a backlog; without destinations there is none of theirs.
  expect(scaled).not.toMatch(/sluice_partition_backlog_events[^\n]*or vector/);
  expect(scaled).toMatch(/sluice_destination_backlog_events[^\n]*or vector\(0\)/);
  // These two act at 0 replicas only.
  expect(scaled).not.toMatch(/pollingInterval|cooldownPeriod/);
  expect(scaled).toMatch(/scaleDown:\n *stabilizationWindowSeconds: \{\{ \.cooldownSeconds \}\}/);
});

test('templates: every metric that a template names exists', () => {
  const groups = [
    gatewayMetrics,
    pipelineMetrics,
    controlPlaneMetrics,
    ...[...workerMetrics.values()].map(({ byStat }) => byStat),
  ];
  const known = new Set(groups.flatMap((group) => Object.values(group).map(({ name }) => name)));
  const named = [...everyTemplate().matchAll(/\bsluice_[a-z_]+/g)].map(([name]) => name);
  expect(named).toContain('sluice_destination_backlog_events');
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test.each([
  ['rules', '../prometheus/rules', '.yml'],
  ['dashboards', '../grafana/dashboards', '.json'],
])('files: the %s of the chart equal those of the repository', async (folder, source, ending) => {
  const own = await readdir(join(chartFolder, 'files', folder));
  expect(own.filter((name) => name.endsWith(ending)).length).toBeGreaterThan(0);
  expect(own).toEqual(await readdir(join(import.meta.dirname, source)));
  for (const name of own) {
    const [linked, original] = await Promise.all(
      [join(chartFolder, 'files', folder, name), join(import.meta.dirname, source, name)].map((path) =>
        readFile(path, 'utf8'),
      ),
    );
    expect(linked).toBe(original);
  }
});
