import { expect, test } from 'vitest';
import { stackServices, stackUrls } from './services.ts';
import { readyMessage } from './ready-message.ts';

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
  LOG_CONSUMERS_MAX: 1_000,
} as const;
const at = {
  folder: '/x',
  natsUrl: 'nats://one',
  natsMonitorUrl: 'http://one',
  databaseUrl: 'postgresql://one',
  secretsKey: 'key',
  sinkUrl: 'http://sink',
};

test("services: what the stack sets is not set a second time by the caller's files", () => {
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
  // BOOTSTRAP_FILE is a path of its own.
  expect(files.toSorted((a, b) => a.localeCompare(b))).toEqual(['BOOTSTRAP_FILE', 'NATS_CA_FILE']);
  expect(services.pipeline.env).toMatchObject({
    NATS_URL: at.natsUrl,
    DATABASE_URL: at.databaseUrl,
    LOG_LEVEL: 'info',
  });
  expect(services.gateway.env).toMatchObject({ NATS_MONITOR_URL: at.natsMonitorUrl, NATS_CA_FILE: '/kept' });
});

test('services: the gateway asks a control plane that has a certificate over TLS', () => {
  const asked = (inherited: Readonly<Record<string, string>>): unknown =>
    stackServices(env, at, inherited).gateway.env['CONTROL_PLANE_URL'];
  expect(asked({})).toBe('http://127.0.0.1:3');
  expect(asked({ CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem' })).toBe('https://127.0.0.1:3');
  expect(asked({ CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem', CONTROL_PLANE_URL: 'https://own' })).toBe('https://own');
});

const ports = { GATEWAY_PORT: 1, CONTROL_PLANE_PORT: 2, SINK_PORT: 3 };
const made = { apiKey: 'key', sourceToken: 'live', testToken: 'test', sourceId: 's', destinationId: 'd' };

test('stack urls: plain where no certificate is set, or an empty one', () => {
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
])('stack urls: %j is spoken to over TLS', (inherited, urls) => {
  expect(stackUrls(ports, inherited)).toMatchObject(urls);
});

test('ready message: with a certificate every address is that of TLS, and what curl needs is said', () => {
  const inherited = { GATEWAY_TLS_CERT_FILE: '/cert.pem', CONTROL_PLANE_TLS_CERT_FILE: '/cert.pem' };
  const message = readyMessage('/x', { ...stackUrls(ports, inherited), ...made }, 'once');
  expect(message).toContain('curl https://127.0.0.1:1/api/v1/track');
  expect(message).toContain('curl https://127.0.0.1:2/rest/v1/');
  expect(message).not.toMatch(/http:\/\/127\.0\.0\.1:[12]\b/);
  expect(message).toContain('--cacert');
  expect(readyMessage('/x', { ...stackUrls(ports, {}), ...made }, undefined)).not.toContain('--cacert');
});
