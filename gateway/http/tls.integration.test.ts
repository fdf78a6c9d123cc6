import { mkdtemp, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { generate } from 'selfsigned';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { createTestAuthority } from '../../shared/testing/certificates.ts';
import type { TestAuthority } from '../../shared/testing/certificates.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import { until } from '../../shared/testing/until.ts';

let nats: NatsServer;
let authority: TestAuthority;
let folder: string;

beforeAll(async () => {
  [nats, authority] = await Promise.all([startTestNats(), createTestAuthority()]);
  folder = await mkdtemp(join(inject('testRunFolder'), 'gateway-tls-'));
});
afterAll(() => nats?.stop());

async function put(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

async function certificateFiles(name: string): Promise<Record<string, string>> {
  const { cert, key } = await authority.server();
  return {
    GATEWAY_TLS_CERT_FILE: await put(`${name}.pem`, cert),
    GATEWAY_TLS_KEY_FILE: await put(`${name}-key.pem`, key),
  };
}

type Answered = { readonly status: number; readonly connection: string | undefined; readonly localPort: number };

/** Posts an event without a key and returns the status. */
async function post(port: number, ca: string): Promise<number> {
  return (await postOver(port, ca, false)).status;
}

function postOver(port: number, ca: string, agent: Agent | false): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/api/v1/track', method: 'POST', ca, agent };
    const asked = request(options, (answer) => {
      const { statusCode: status = 0, headers, socket } = answer;
      const { localPort = 0 } = socket;
      answer.resume();
      answer.once('end', () => resolve({ status, connection: headers.connection, localPort }));
    });
    asked.once('error', reject);
    asked.end('{"token":"none","event":"e","externalId":"v"}');
  });
}

test('tls: with a certificate the gateway speaks TLS, and only that', async () => {
  const gateway = await startGatewayHere(nats.url, await certificateFiles('right'));
  onTestFinished(() => gateway.stop());
  expect(await post(gateway.port, authority.ca)).toBe(401);
  await expect(post(gateway.port, (await createTestAuthority('another')).ca)).rejects.toThrow(/certificate|signature/);
  await expect(fetch(gateway.url)).rejects.toThrow(/fetch failed/);
  // Metrics and health stay on their own plain port.
  expect((await gateway.readiness()).status).toBe(200);
});

test('tls: an encrypted key is opened by its passphrase', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    algorithm: 'sha256',
    passphrase: 'open sesame',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const files = {
    GATEWAY_TLS_CERT_FILE: await put('sealed.pem', cert),
    GATEWAY_TLS_KEY_FILE: await put('sealed-key.pem', key),
  };
  const gateway = await startGatewayHere(nats.url, { ...files, GATEWAY_TLS_PASSPHRASE: 'open sesame' });
  onTestFinished(() => gateway.stop());
  expect(await post(gateway.port, cert)).toBe(401);
  for (const wrong of [files, { ...files, GATEWAY_TLS_PASSPHRASE: 'wrong' }]) {
    await expect(startGatewayHere(nats.url, wrong)).rejects.toThrow(/GATEWAY_TLS_PASSPHRASE/);
  }
});

test('tls: the gateway does not start with the key of another certificate, or if a file is missing', async () => {
  const [one, other] = [await certificateFiles('one'), await certificateFiles('other')];
  const mixed = { ...one, GATEWAY_TLS_KEY_FILE: other['GATEWAY_TLS_KEY_FILE'] ?? '' };
  await expect(startGatewayHere(nats.url, mixed)).rejects.toThrow(/reading GATEWAY_TLS_CERT_FILE.*mismatch/);
  const missing = { ...one, GATEWAY_TLS_CERT_FILE: join(folder, 'none.pem') };
  await expect(startGatewayHere(nats.url, missing)).rejects.toThrow(/reading GATEWAY_TLS_CERT_FILE: ENOENT/);
  await expect(startGatewayHere(nats.url, { GATEWAY_TLS_KEY_FILE: one['GATEWAY_TLS_KEY_FILE'] ?? '' })).rejects.toThrow(
    /GATEWAY_TLS_CERT_FILE is missing: GATEWAY_TLS_KEY_FILE does nothing without it/,
  );
});

test('tls: a gateway that is shutting down answers a kept-alive connection once more with connection: close, and closes it', async () => {
  const gateway = await startGatewayHere(nats.url, { ...(await certificateFiles('drain')), SHUTDOWN_IDLE_MS: '20000' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = () => postOver(gateway.port, authority.ca, agent);
  const first = await ask();
  expect(first).toMatchObject({ status: 401, connection: undefined });
  const stopped = gateway.stop();
  await until('readiness says no', async () => (await gateway.readiness()).status === 503);
  const last = await ask();
  expect(last).toMatchObject({ status: 401, connection: 'close', localPort: first.localPort });
  await stopped;
});
