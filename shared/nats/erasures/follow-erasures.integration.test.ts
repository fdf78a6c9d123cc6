import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { ensureTopology } from '../streams/topology.ts';
import { announceErasure } from './announce-erasure.ts';
import { followErasures } from './follow-erasures.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'follow-erasures-test' });
  await ensureTopology(connection, testTopology());
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

const onError = (error: unknown): void => expect.unreachable(String(error));

test('erasures: a follower on demand sends no request until it is used, and then knows announced erasures', async () => {
  const own = await connectLog({ url: nats.url, name: 'on-demand' });
  const watching = await connectLog({ url: nats.url, name: 'watching' });
  const publish = vi.spyOn(own[client].nc, 'publish');
  const request = vi.spyOn(own[client].nc, 'request');
  const other = vi.spyOn(watching[client].nc, 'publish');
  const requested = vi.spyOn(watching[client].nc, 'request');
  const onDemand = followErasures({ connection: own, onError, isOnDemand: true });
  const always = followErasures({ connection: watching, onError });
  try {
    const asked = (): number => other.mock.calls.length + requested.mock.calls.length;
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(0), { timeout: 20_000 });
    const first = asked();
    await vi.waitFor(() => expect(asked()).toBeGreaterThan(first + 2), { timeout: 20_000 });
    expect([publish.mock.calls, request.mock.calls, onDemand.isCurrent]).toEqual([[], [], false]);
    const [accountId, receivedAtMs] = [randomUUID(), 1_000];
    const erasure = { id: randomUUID(), accountId, visitorIds: ['ann'], atMs: receivedAtMs, isAhead: false };
    await announceErasure(connection, erasure);
    await onDemand.untilCurrent(AbortSignal.timeout(20_000));
    expect(onDemand.isErased(accountId, { visitorId: 'ann', receivedAtMs })).toBe(true);
  } finally {
    await Promise.all([onDemand.stop(), always.stop()]);
    await Promise.all([own.close(), watching.close()]);
  }
});
