import { once } from 'node:events';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fastify } from 'fastify';
import { createTestAuthority } from '../../shared/testing/certificates.ts';
import { httpsServerFactory } from './http-settings.ts';

const requestTimeoutMs = 30_000;

test('https: the interface is served over TLS, with its time limits', async () => {
  const authority = await createTestAuthority();
  const app = fastify({ serverFactory: httpsServerFactory(await authority.server(), requestTimeoutMs) });
  onTestFinished(() => app.close());
  app.get('/', () => 'hello');
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', ca: authority.ca, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [{ statusCode: number; resume(): void }];
  answer.resume();
  expect(answer.statusCode).toBe(200);
  expect(app.server.requestTimeout).toBe(requestTimeoutMs);
});

test('https: a key that does not match the certificate is reported with the names of both variables', async () => {
  const authority = await createTestAuthority();
  const [{ cert }, { key }] = [await authority.server(), await authority.server()];
  expect(() => fastify({ serverFactory: httpsServerFactory({ cert, key }, requestTimeoutMs) })).toThrow(
    /CONTROL_PLANE_TLS_CERT and CONTROL_PLANE_TLS_KEY/,
  );
});
