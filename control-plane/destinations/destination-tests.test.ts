import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { createDestinationTests } from './destination-tests.ts';
import type { DestinationTest } from './run-test.ts';
import { createTestEvent } from './run-test.ts';

async function startMailServer() {
  const received: string[] = [];
  let open = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onConnect: (_session, done) => {
      open += 1;
      done();
    },
    onClose: () => (open -= 1),
    onAuth: ({ password }, _session, done) =>
      password === 'right' ? done(null, { user: 'user' }) : done(new Error('no such login')),
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        received.push(...session.envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received, connections: () => open };
}

function testOf(type: string, settings: JsonObject): DestinationTest {
  const kind = findDestinationKind(type);
  if (kind === undefined) throw new Error(`there is no ${type}`);
  const event = createTestEvent('account', kind, {}, Date.now());
  return { kind, settings, prepared: kind.prepare(settings), event };
}

const tests = (allowed: readonly string[]) =>
  createDestinationTests({
    egress: { allowed, denied: [] },
    timeoutMs: 30_000,
    tokens: { get: () => Promise.reject(new Error('no token is needed')) },
  });

test('destination tests: a kind that does not use HTTP is tested over its own protocol, and the session is closed', async () => {
  const server = await startMailServer();
  const mail = { host: '127.0.0.1', port: String(server.port), security: 'none', username: 'user' };
  const settings = { ...mail, from: 'shop@example.com', to: 'team@example.com', password: 'right' };
  const local = tests(['127.0.0.0/8']);
  const delivered = await local.run('account', testOf('SMTP', settings));
  expect(delivered).toMatchObject({ outcome: 'delivered', answer: { status: 200 } });
  expect(JSON.stringify(delivered)).not.toContain(Buffer.from('user:right').toString('base64'));
  const held = await local.run('account', testOf('SMTP', { ...settings, password: 'wrong' }));
  expect(held).toMatchObject({ outcome: 'held', reason: 'SMTP 535' });
  expect(await tests([]).run('account', testOf('SMTP', settings))).toMatchObject({
    reason: 'address or port not allowed (EGRESS_ALLOW)',
  });
  expect(server.received).toEqual(['team@example.com']);
  await vi.waitFor(() => expect(server.connections()).toBe(0));
});
