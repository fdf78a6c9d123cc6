import { expect, test } from 'vitest';
import { newConfigSigningKey } from '../../shared/contracts/config/signed-config.ts';
import { stackServices, stackUrls } from './services.ts';
import { readyMessage } from './ready-message.ts';
import type { LogLogin } from './servers.ts';

const env = {
  SLUICE_DIR: '.sluice',
  GATEWAY_PORT: 1,
  GATEWAY_METRICS_PORT: 2,
  CONTROL_PLANE_PORT: 3,
  CONTROL_PLANE_METRICS_PORT: 4,
  PIPELINE_METRICS_PORT: 5,
  SINK_PORT: 6,
  NATS_PORT: 7,
  NATS_MONITOR_PORT: 8,
  POSTGRES_PORT: 9,
  LOG_LEVEL: 'info',
  GOMEMLIMIT: '320MiB',
  LOG_INGEST_BYTES_MAX: 1,
  LOG_EVENTS_BYTES_MAX: 1,
  LOG_RETRY_BYTES_MAX: 1,
  LOG_DEAD_LETTERS_BYTES_MAX: 1,
  LOG_DEAD_LETTERS_AGE_MS: 3_600_000,
  LOG_INGEST_DEAD_LETTERS_BYTES_MAX: 1,
  LOG_DEDUPLICATION_BYTES_MAX: 1,
} as const;
const at = {
  folder: '/x',
  log: { url: 'nats://one', monitorUrl: 'http://one', logins: undefined },
  database: { urls: { controlPlane: 'postgresql://one', pipeline: 'postgresql://two' }, isMigrated: false },
  secretsKey: 'key',
  configSigningKey: newConfigSigningKey(),
  sinkUrl: 'http://sink',
};

test("services: variables that the stack sets are not set a second time from the caller's files", () => {
  const inherited = {
    NATS_URL_FILE: '/a',
    NATS_MONITOR_URL_FILE: '/b',
    DATABASE_URL_FILE: '/c',
    SECRETS_KEY_FILE: '/d',
    LOG_LEVEL_FILE: '/e',
    NATS_CA_FILE: '/kept',
  };
  const services = stackServices(env, at, inherited);
  const files = Object.keys(services['control-plane'].env).filter((name) => name.endsWith('_FILE'));
  // The value of BOOTSTRAP_FILE is a path, and not a variable from a file.
  expect(files.toSorted((a, b) => a.localeCompare(b))).toEqual(['BOOTSTRAP_FILE', 'NATS_CA_FILE']);
  expect(services.pipeline.env).toMatchObject({
    NATS_URL: at.log.url,
    DATABASE_URL: at.database.urls.pipeline,
    LOG_LEVEL: 'info',
  });
  expect(services.gateway.env).toMatchObject({ NATS_MONITOR_URL: at.log.monitorUrl, NATS_CA_FILE: '/kept' });
});

test('services: each logs in as its own user and role, whatever login the caller has set', () => {
  const login = (user: string): LogLogin => ({ user, password: `of ${user}` });
  const logins = {
    gateway: login('one'),
    pipeline: login('two'),
    controlPlane: login('three'),
    doctor: login('four'),
    operator: login('five'),
  };
  const own = { ...at, log: { ...at.log, logins }, database: { ...at.database, isMigrated: true } };
  const services = stackServices(env, own, { NATS_TOKEN: 'token', NATS_CREDS_FILE: '/creds', DATABASE_PASSWORD: 'x' });
  const { gateway, pipeline, 'control-plane': controlPlane } = services;
  expect(gateway.env).toMatchObject({ NATS_USER: 'one', NATS_PASSWORD: 'of one', NATS_TOKEN: '', NATS_CREDS: '' });
  expect(gateway.env).not.toHaveProperty('NATS_CREDS_FILE');
  expect(gateway.env).not.toHaveProperty('DATABASE_URL');
  expect(pipeline.env).toMatchObject({ NATS_USER: 'two', DATABASE_URL: 'postgresql://two', DATABASE_PASSWORD: '' });
  expect(controlPlane.env).toMatchObject({
    NATS_USER: 'three',
    DATABASE_URL: 'postgresql://one',
    MIGRATE_ON_START: 'false',
  });
});

test('services: the gateway calls the control plane over TLS if the control plane has a certificate', () => {
  const asked = (inherited: Readonly<Record<string, string>>): unknown =>
    stackServices(env, at, inherited).gateway.env['CONTROL_PLANE_URL'];
  expect(asked({})).toBe('http://127.0.0.1:3');
  expect(asked({ CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem' })).toBe('https://127.0.0.1:3');
  expect(asked({ CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem', CONTROL_PLANE_URL: 'https://own' })).toBe('https://own');
});

test('services: hosts that are set but empty are loopback', () => {
  const services = stackServices(env, at, { METRICS_HOST: '', GATEWAY_HOST: '', CONTROL_PLANE_HOST: '' });
  expect(services.pipeline.env['METRICS_HOST']).toBe('127.0.0.1');
  expect(services.gateway.env['GATEWAY_HOST']).toBe('127.0.0.1');
  expect(services['control-plane'].env['CONTROL_PLANE_HOST']).toBe('127.0.0.1');
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['10.0.0.5', '10.0.0.5'],
  ['::1', '[::1]'],
])('services: that listen on %s are called at %s', (host, called) => {
  const inherited = { METRICS_HOST: host, GATEWAY_HOST: host, CONTROL_PLANE_HOST: host };
  const services = stackServices(env, at, inherited);
  expect(services.gateway.metricsUrl).toBe(`http://${called}:2`);
  expect(services.gateway.env['CONTROL_PLANE_URL']).toBe(`http://${called}:3`);
  expect(stackUrls(ports, inherited)).toEqual({
    gateway: `http://${called}:1`,
    controlPlane: `http://${called}:2`,
    sink: 'http://127.0.0.1:3',
  });
});

test('services: ranges that the caller opens to destinations are opened beside the demo sink', () => {
  const opened = (inherited: Readonly<Record<string, string>>): unknown =>
    stackServices(env, at, inherited).pipeline.env['EGRESS_ALLOW'];
  expect(opened({})).toBe('127.0.0.1/32:6');
  expect(opened({ EGRESS_ALLOW: '' })).toBe('127.0.0.1/32:6');
  expect(opened({ EGRESS_ALLOW: '10.0.0.0/8' })).toBe('10.0.0.0/8,127.0.0.1/32:6');
});

const ports = { GATEWAY_PORT: 1, CONTROL_PLANE_PORT: 2, SINK_PORT: 3 };
const made = { apiKey: 'key', sourceToken: 'live', testToken: 'test', sourceId: 's', destinationId: 'd' };

test('stack urls: are http where no certificate is set, or where its variable is empty', () => {
  expect(stackUrls(ports, { GATEWAY_TLS_CERT_FILE: '' })).toEqual({
    gateway: 'http://127.0.0.1:1',
    controlPlane: 'http://127.0.0.1:2',
    sink: 'http://127.0.0.1:3',
  });
});

test.each([
  [{ GATEWAY_TLS_CERT_FILE: '/cert.pem' }, { gateway: 'https://127.0.0.1:1', controlPlane: 'http://127.0.0.1:2' }],
  [{ CONTROL_PLANE_TLS_CERT_FILE: '/c.pem' }, { gateway: 'http://127.0.0.1:1', controlPlane: 'https://127.0.0.1:2' }],
  [{ CONTROL_PLANE_TLS_CERT: '-----BEGIN' }, { gateway: 'http://127.0.0.1:1', controlPlane: 'https://127.0.0.1:2' }],
])('stack urls: %j is addressed with https', (inherited, urls) => {
  expect(stackUrls(ports, inherited)).toMatchObject(urls);
});

test('ready message: with a certificate every address is https, and curl is shown with --cacert', () => {
  const inherited = { GATEWAY_TLS_CERT_FILE: '/cert.pem', CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem' };
  const message = readyMessage('/x', { ...stackUrls(ports, inherited), ...made }, 'once');
  expect(message).toContain('curl https://127.0.0.1:1/api/v1/track');
  expect(message).toContain('curl https://127.0.0.1:2/rest/v1/');
  expect(message).not.toMatch(/http:\/\/127\.0\.0\.1:[12]\b/);
  expect(message).toContain('--cacert');
  expect(readyMessage('/x', { ...stackUrls(ports, {}), ...made }, undefined)).not.toContain('--cacert');
});

test('services: the key that signs configuration is the control plane’s alone', () => {
  const services = stackServices(env, at, {});
  expect(services['control-plane'].env).toMatchObject({ CONFIG_SIGNING_KEY: at.configSigningKey });
  for (const name of ['gateway', 'pipeline'] as const) {
    expect(services[name].env['CONFIG_PUBLIC_KEYS']).toContain('BEGIN PUBLIC KEY');
    expect(JSON.stringify(services[name].env)).not.toContain('PRIVATE KEY');
  }
});
