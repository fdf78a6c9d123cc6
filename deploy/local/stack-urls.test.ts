import { expect, test } from 'vitest';
import { readyMessage } from './ready-message.ts';
import { stackUrls } from './stack-urls.ts';

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
  const message = readyMessage('/x', { ...stackUrls(ports, inherited), ...made });
  expect(message).toContain('curl https://127.0.0.1:1/api/v1/track');
  expect(message).toContain('curl https://127.0.0.1:2/rest/v1/');
  expect(message).not.toMatch(/http:\/\/127\.0\.0\.1:[12]\b/);
  expect(message).toContain('--cacert');
  expect(readyMessage('/x', { ...stackUrls(ports, {}), ...made })).not.toContain('--cacert');
});
