import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { beforeAll, expect, test } from 'vitest';
import { bucketSettings } from '../../shared/nats/buckets/open-buckets.ts';
import { streamConfigs } from '../../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { readGatewayEnv } from '../../gateway/env.ts';
import { judgeMemory } from '../../shared/doctor/judge-memory.ts';
import { readEnv } from '../../shared/runtime/env.ts';
import { fitToMachine } from '../../shared/runtime/fit-to-machine.ts';
import { memoryEnv, serviceMemory } from '../cli/doctor/memory-settings.ts';
import { unknownVariables } from '../testing/service-environments.ts';
import type { ServiceName } from '../testing/service-environments.ts';
import { chartFolder, readChart } from './testing/read-chart.ts';
import type { Chart, Values } from './testing/read-chart.ts';

const services = { gateway: 'gateway', pipeline: 'pipeline', controlPlane: 'control-plane' } as const;

let values: Values;
let schema: Values;
let templates: Chart['templates'];
beforeAll(async () => {
  ({ values, schema, templates } = await readChart());
});

const at = (path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (part as Values | undefined)?.[key], values);
const everyTemplate = (): string => [...templates.values()].join('\n');
const variablesOf = (path: string): string[] => Object.keys(at(path) as Values);

test('values: match their schema, which refuses unknown members', () => {
  const check = new Ajv({ allErrors: true, strict: false }).compile(schema);
  expect(check(values) ? [] : check.errors).toEqual([]);
  const slips: Values[] = [
    { ...values, gatewya: {} },
    { ...values, gateway: { ...(values['gateway'] as Values), replica: 3 } },
    { ...values, gateway: { ...(values['gateway'] as Values), podSpec: { volumes: [] } } },
    { ...values, env: { LOG_PARTITIONS: 4 } },
    { ...values, database: { url: '', secrets: { DATABASE_PASSWORT: { secret: 'a', key: 'b' } } } },
    { ...values, secretsKey: { secret: 'sluice' } },
    { ...values, prometheusRule: { enabled: true, labels: {}, runbookBaseUrl: 'two words' } },
  ];
  expect(slips.map((slip) => check(slip))).toEqual(slips.map(() => false));
});

test('values: the variables of the migration, such as names of roles, are accepted and reach its job', () => {
  const check = new Ajv({ allErrors: true, strict: false }).compile(schema);
  const env = { DATABASE_CONTROL_PLANE_USER: 'second_control_plane', DATABASE_PIPELINE_USER: 'second_pipeline' };
  expect(unknownVariables('migrate', Object.keys(env))).toEqual([]);
  const second = { ...values, migrate: { ...(values['migrate'] as Values), env } };
  expect(check(second) ? [] : check.errors).toEqual([]);
  expect(templates.get('migrate.yaml')).toMatch(/\$variables := merge \(dict\) \(\.Values\.migrate\.env /);
});

test('values: the former default of pollingIntervalSeconds, which helm upgrade --reuse-values brings, is accepted', () => {
  const check = new Ajv({ allErrors: true, strict: false }).compile(schema);
  const keda = { ...(at('pipeline.keda') as Values), pollingIntervalSeconds: 15 };
  const reused = { ...values, pipeline: { ...(values['pipeline'] as Values), keda } };
  expect(check(reused) ? [] : check.errors).toEqual([]);
});

test('values: a certificate is the name of a Secret, and authorities are accepted only with a certificate', () => {
  const check = new Ajv({ strict: false }).compile(schema);
  const tls = (service: string, of: Values): boolean =>
    check({ ...values, [service]: { ...(values[service] as Values), tls: of } });
  const ca = { secret: 'authorities', key: 'ca.crt' };
  expect(tls('gateway', { secret: 'gateway-tls' })).toBe(true);
  expect(tls('controlPlane', { secret: 'control-plane-tls', ca: { ...ca, secret: '' } })).toBe(true);
  expect(tls('controlPlane', { secret: 'control-plane-tls', ca })).toBe(true);
  expect(tls('controlPlane', { secret: '', ca })).toBe(false);
  for (const of of [{ secret: 'Two Words' }, { secretName: 'a' }, { secret: 'a', key: 'tls.pem' }]) {
    expect(tls('gateway', of)).toBe(false);
  }
});

test('values: a range may be allowed to destinations only if the ranges of the cluster are denied, too', () => {
  const check = new Ajv({ strict: false }).compile(schema);
  const egress = (of: Values): boolean => check({ ...values, egress: of });
  expect(egress({ allow: [], deny: [] })).toBe(true);
  expect(egress({ allow: ['10.0.0.0/8'], deny: [] })).toBe(false);
  expect(egress({ allow: ['10.0.0.0/8'], deny: ['10.96.0.0/12', 'fd00::/108'] })).toBe(true);
  expect(egress({ allow: [], deny: ['postgres'] })).toBe(false);
});

test('values: the error names a missing value that templates need, because null removes a default', () => {
  const check = new Ajv({ allErrors: true, strict: false }).compile(schema);
  const missingWithout = (path: string): unknown => {
    const rest = structuredClone(values) as Record<string, unknown>;
    const keys = path.split('.');
    const last = keys.pop() ?? '';
    delete keys.reduce<Record<string, unknown>>((part, key) => part[key] as Record<string, unknown>, rest)[last];
    check(rest);
    return check.errors?.map(({ params }) => params['missingProperty'] as unknown);
  };
  // Objects whose members a template reads, and numbers. Without one of them, a template fails or writes nothing.
  const inner = [...everyTemplate().matchAll(/\.Values\.([A-Za-z.]+)\.[A-Za-z]+/g)].map(([, path]) => path ?? '');
  const environments = ['env', ...Object.keys(services).map((service) => `${service}.env`)];
  const numbers = ['shutdownDeadlineMs', 'controlPlane.replicas', 'gateway.service.port', 'pipeline.keda.minReplicas'];
  for (const path of new Set([...inner, ...environments, ...numbers, 'log.secrets', 'database.secrets'])) {
    // Optional: the template checks that it exists first.
    if (path === 'gateway.ingress') continue;
    expect({ path, missing: missingWithout(path) }).toEqual({ path, missing: [path.split('.').at(-1)] });
  }
});

test('values: every value that a template names exists, and every value is named in a template', () => {
  const named = new Set(
    [...everyTemplate().matchAll(/\.Values\.([A-Za-z.]+)|\$values\.([A-Za-z.]+)/g)].flatMap((m) => m[1] ?? m[2] ?? []),
  );
  expect([...named].filter((path) => at(path) === undefined)).toEqual([]);
  // A template of the services gets the service's own values as `settings`.
  const settings = [...everyTemplate().matchAll(/\.settings\.([A-Za-z]+)/g)].map(([, name]) => name ?? '');
  for (const service of Object.keys(services)) {
    for (const name of settings)
      expect({ service, name, is: at(`${service}.${name}`) }).not.toMatchObject({ is: undefined });
  }
  const used = (path: string): boolean =>
    [...named].some((name) => name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`));
  const unused = Object.keys(values).flatMap((group) => {
    const inner = values[group];
    const isMap = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    const paths =
      isMap && !used(group) ? [group] : isMap ? Object.keys(inner).map((key) => `${group}.${key}`) : [group];
    return paths.filter((path) => !used(path) && !settings.includes(path.split('.')[1] ?? ''));
  });
  expect(unused).toEqual([]);
});

test('values: pod settings that the template itself sets are refused', () => {
  const text = `${templates.get('_pod.tpl')}`;
  const spec = text.slice(text.indexOf('\nspec:'));
  const set = [...spec.matchAll(/^ {2}([a-zA-Z]+):/gm)].map(([, name]) => name);
  expect(set.length).toBeGreaterThan(7);
  const definitions = schema['definitions'] as Record<string, { propertyNames?: { not: { enum: string[] } } }>;
  expect(definitions['podSpec']?.propertyNames?.not.enum).toEqual(expect.arrayContaining(set));
});

test('values: three quarters of the disk that they name hold the streams', async () => {
  const text = await readFile(join(chartFolder, 'values.yaml'), 'utf8');
  const diskGib = Number(/nodes with disks of (\d+) GiB/.exec(text)?.[1]);
  const settings = readTopologySettings(readGatewayEnv(at('env') as Record<string, string>));
  const sizes = [
    ...streamConfigs(settings).map((stream) => stream.max_bytes ?? 0),
    ...Object.values(bucketSettings(settings.replicas)).map(({ bytesMax }) => bytesMax),
  ];
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(0.75 * diskGib * 1024 ** 3);
});

test.each([
  ['gateway', 'gateways'],
  ['pipeline', 'pipelines'],
  ['controlPlane', 'controlPlanes'],
] as const)('values: %s: the doctor has no objection to the memory of a pod', (path, counted) => {
  const gibibyte = 1024 ** 3;
  const [, size, unit] = /^(\d+)(Mi|Gi)$/.exec(String(at(`${path}.resources.limits.memory`))) ?? [];
  const memoryBytes = Number(size) * (unit === 'Gi' ? gibibyte : gibibyte / 1024);
  const source = { ...(at('env') as Record<string, string>), ...(at(`${path}.env`) as Record<string, string>) };
  const env = readEnv(Type.Object(memoryEnv), source, String);
  const heapBytes = fitToMachine({ cores: 2, memoryBytes }).mainHeapMib * 1024 ** 2;
  const none = { gateways: 0, pipelines: 0, controlPlanes: 0 };
  const machine = { heapBytes, partitions: Number(source['LOG_PARTITIONS']) };
  const findings = judgeMemory(serviceMemory(env, machine, { ...none, [counted]: 1 }), memoryBytes);
  expect(findings.at(-1)).toMatchObject({ level: 'ok', about: 'memory' });
});

test('values: name only variables that their service knows, and hold no secret', () => {
  for (const [path, service] of Object.entries(services)) {
    const names = [...variablesOf('env'), ...variablesOf(`${path}.env`), 'INSTANCE_ID'];
    expect(unknownVariables(service, names)).toEqual([]);
  }
  const secrets = (group: string): string[] => secretNames((schema['properties'] as Record<string, Values>)[group]);
  for (const service of ['pipeline', 'control-plane', 'migrate'] satisfies ServiceName[]) {
    expect(
      unknownVariables(
        service,
        secrets('database').map((name) => `${name}_FILE`),
      ),
    ).toEqual([]);
  }
  expect(
    unknownVariables(
      'gateway',
      secrets('log').map((name) => `${name}_FILE`),
    ),
  ).toEqual([]);
  expect(JSON.stringify(values)).not.toMatch(/"(password|token)":|:[^/"@]+@/i);
});

/** The variables that a group's `secrets` may set, read from the pattern in the group's schema. */
function secretNames(group: Values | undefined): string[] {
  const pattern = /"pattern":"\^([A-Z]+)_\(([A-Z_|]+)\)\$"/.exec(JSON.stringify(group));
  const names = (pattern?.[2] ?? '').split('|').map((name) => `${pattern?.[1]}_${name}`);
  expect(names.length).toBeGreaterThan(3);
  return names;
}
