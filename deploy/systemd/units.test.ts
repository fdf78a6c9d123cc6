import { access, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';
import { isService, problemsOf, unknownVariables } from '../testing/service-environments.ts';
import type { ServiceName } from '../testing/service-environments.ts';

const top = join(import.meta.dirname, '../..');
const read = (name: string): Promise<string> => readFile(join(import.meta.dirname, name), 'utf8');

/** Returns the values of a directive in a unit, in order. */
type Unit = (directive: string) => string[];
let units: Map<string, Unit>;
let common: Unit;

const parseUnit = (text: string): Unit => {
  const lines = text.split('\n').flatMap((line) => /^(\w+)=(.*)$/.exec(line)?.slice(1) ?? []);
  return (directive) => lines.filter((_, at) => at % 2 === 1 && lines[at - 1] === directive);
};

beforeAll(async () => {
  const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.service'));
  units = new Map(
    await Promise.all(names.map(async (name): Promise<[string, Unit]> => [name, parseUnit(await read(name))])),
  );
  common = parseUnit(await read('sluice-.service.d/common.conf'));
});

const entriesOf = (unit: Unit): string[] => unit('ExecStart').map((line) => /dist\/(\S+)\.js'?$/.exec(line)?.[1] ?? '');

function serviceOf(unit: Unit): ServiceName {
  const [folder, entry] = entriesOf(unit).at(-1)?.split('/') ?? [];
  const name = entry === 'main' ? folder : entry;
  if (!isService(name)) throw new Error(`${name} is no service`);
  return name;
}

/** The environment that systemd sets for a unit's first instance on a machine named `host`. */
function environmentOf(unit: Unit): Record<string, string> {
  const entries = [...common('Environment'), ...unit('Environment')]
    .flatMap((line) => line.split(' '))
    .map((word) => word.split('=') as [string, string])
    .map(([name, value]) => [
      name,
      value.replaceAll('%l', 'host').replaceAll('%i', '1').replaceAll('%d', '/run/credentials'),
    ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

async function exampleFile(): Promise<Record<string, string>> {
  const lines = (await read('sluice.env.example')).split('\n').filter((line) => /^\w+=/.test(line));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** All units but the migration, which ends by itself. */
const services = (): Unit[] => [...units].filter(([name]) => name !== 'sluice-migrate.service').map(([, unit]) => unit);

test('units: each service logs in as itself, and none has the password of the owner of the tables', () => {
  for (const unit of services()) {
    const service = serviceOf(unit);
    expect(environmentOf(unit)).toMatchObject({
      NATS_USER: `sluice-${service}`,
      NATS_PASSWORD_FILE: `/run/credentials/nats-${service}-password`,
    });
    expect(unit('LoadCredential').join(' ')).not.toMatch(/(^| )database-password:/);
    if (service === 'gateway') continue;
    expect(environmentOf(unit)).toMatchObject({
      DATABASE_USER: `sluice_${service.replace('-', '_')}`,
      DATABASE_PASSWORD_FILE: `/run/credentials/database-${service}-password`,
    });
  }
});

test('units: each unit starts an entry that the build makes', async () => {
  expect(units.size).toBe(4);
  for (const entry of [...units.values()].flatMap(entriesOf)) await access(join(top, `${entry}.ts`));
});

test('units: a service that ends is started again, unless its exit code says that it cannot start', () => {
  expect(common('RestartPreventExitStatus')).toEqual([String(cannotStartExitCode)]);
  for (const each of services()) expect(each('Restart')).toEqual(['always']);
});

test('units: starting a control plane starts the migration first, and a failed migration is run again', () => {
  const unit = units.get('sluice-control-plane.service');
  if (unit === undefined) throw new Error('there is no unit of the control plane');
  expect(unit('ExecStartPre')).toEqual(['+/usr/bin/systemctl start sluice-migrate.service']);
  expect(units.get('sluice-migrate.service')?.('Type')).toEqual(['oneshot']);
  expect(unit('Environment').join(' ')).toContain('MIGRATE_ON_START=false');
  for (const each of units.values()) expect(each('Requires')).toEqual([]);
});

test('units: each service knows every variable in its unit, and needs only the variables of the example file in addition', async () => {
  const example = await exampleFile();
  expect(example).toHaveProperty('INGEST_URL');
  const allServices: ServiceName[] = ['gateway', 'pipeline', 'control-plane'];
  for (const [name, unit] of units) {
    const { NODE_ENV: _node, SHUTDOWN_DEADLINE_MS: deadline = '', ...own } = environmentOf(unit);
    const service = serviceOf(unit);
    expect({ name, unknown: unknownVariables(service, Object.keys(own)) }).toEqual({ name, unknown: [] });
    const all = { ...own, ...example, SHUTDOWN_DEADLINE_MS: deadline };
    expect({ name, problems: problemsOf(service, all) }).toEqual({ name, problems: [] });
  }
  for (const name of Object.keys(example)) {
    expect({ name, known: allServices.some((service) => unknownVariables(service, [name]).length === 0) }).toEqual({
      name,
      known: true,
    });
  }
});

test('units: every credential that a unit names is loaded', () => {
  for (const unit of units.values()) {
    const loaded = unit('LoadCredential').map((line) => line.split(':')[0]);
    const named = [
      ...unit('Environment')
        .join(' ')
        .matchAll(/_FILE=%d\/(\S+)/g),
    ].map(([, name]) => name);
    expect(loaded).toEqual(named);
  }
});

test('units: with the drop-in of the README each service logs in with the credentials alone', async () => {
  const dropIn = parseUnit((await read('README.md')).replaceAll(/^ +/gm, ''))('Environment').join(' ');
  const unset = [...dropIn.matchAll(/(\w+)=(?= |$)/g)].map(([, name]) => name);
  expect(dropIn).toContain('NATS_CREDS_FILE=%d/nats.creds');
  for (const unit of services()) {
    const login = Object.keys(environmentOf(unit)).filter((name) => name.startsWith('NATS_'));
    expect(unset).toEqual(login);
  }
});

test('units: systemd waits longer than a service takes to stop, and starts it again whatever ended it', () => {
  const deadlineMs = Number(/SHUTDOWN_DEADLINE_MS=(\d+)/.exec(common('Environment').join(' '))?.[1]);
  expect(Number(common('TimeoutStopSec')[0]) * 1_000).toBe(deadlineMs + 10_000);
  for (const unit of services()) expect(unit('Restart')).toEqual(['always']);
  expect(common('Restart')).toEqual([]);
});

test('units: gateways on one machine share a port, and each has its own port for metrics', () => {
  const gateway = units.get('sluice-gateway@.service');
  expect(gateway?.('Environment').join(' ')).toMatch(/GATEWAY_REUSE_PORT=true GATEWAY_METRICS_PORT=\d+%i\b/);
});

test('units: a gateway that stops closes only connections that it would have closed as idle', () => {
  const unit = units.get('sluice-gateway@.service');
  if (unit === undefined) throw new Error('there is no unit of the gateway');
  const { SHUTDOWN_IDLE_MS: idleMs, SHUTDOWN_DEADLINE_MS: deadlineMs } = environmentOf(unit);
  // The HTTP engine closes connections that are idle for 10 s, and looks for them every 4 s.
  expect(Number(idleMs)).toBeGreaterThanOrEqual(12_000);
  expect(Number(deadlineMs)).toBeGreaterThan(Number(idleMs) + 2_000);
});
