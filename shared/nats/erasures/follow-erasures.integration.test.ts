import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { ensureTopology, streams } from '../streams/topology.ts';
import { announceErasure } from '../../testing/announce-erasure.ts';
import { announceWithdrawals } from './announce-withdrawals.ts';
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

/** Announces denials one after the other, each in a message of its own. */
async function deny(accountId: string, visitors: readonly string[]): Promise<void> {
  for (const visitor of visitors) {
    const change = { accountId, visitorIds: [visitor], words: { ads: false }, atMs: Date.now() };
    await announceWithdrawals(connection, [change]);
  }
}

/** What a thread that starts now knows: whether `ads` counts as denied for an event, by `account/visitor`. */
async function deniedTo(events: readonly { accountId: string; visitorId: string; receivedAtMs: number }[]) {
  const starting = followErasures({ connection, onError });
  try {
    await starting.untilCurrent(AbortSignal.timeout(20_000));
    return events.map(({ accountId, ...event }) => starting.lastWords(accountId, event)?.get('ads')?.isDenial === true);
  } finally {
    await starting.stop();
  }
}

const visitorsNamed = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name}-${n}`);

test('withdrawals: one account cannot fill the stream, with denials of a few purposes in large batches or alone', async () => {
  const { jsm } = connection[client];
  const accountId = randomUUID();
  const words = { advertising: false, analytics: false, personalization: false };
  for (const count of [1, 2, 3, 500]) {
    await jsm.streams.purge(streams.withdrawals);
    const changes = visitorsNamed('v', count).map((id) => ({ accountId, visitorIds: [id], words, atMs: Date.now() }));
    await announceWithdrawals(connection, changes);
    const { state, config } = await jsm.streams.info(streams.withdrawals);
    expect(Math.min(state.messages, config.max_msgs_per_subject)).toBeGreaterThan(0);
    expect((state.bytes / state.messages) * config.max_msgs_per_subject).toBeLessThan(0.8 * config.max_bytes);
  }
});

test('withdrawals: an account whose denials leave the stream stops only its own earlier events', async () => {
  const { jsm } = connection[client];
  await jsm.streams.delete(streams.withdrawals);
  await ensureTopology(connection, testTopology());
  const { config } = await jsm.streams.info(streams.withdrawals);
  await jsm.streams.update(streams.withdrawals, { ...config, max_msgs_per_subject: 4 });
  const [busy, quiet] = [randomUUID(), randomUUID()];
  const before = Date.now() - 60_000;
  await deny(busy, visitorsNamed('a', 4));
  await deny(quiet, ['ann']);
  await deny(busy, visitorsNamed('b', 4));
  const now = Date.now() + 60_000;
  const events = [
    { accountId: busy, visitorId: 'a-0', receivedAtMs: before },
    { accountId: busy, visitorId: 'b-3', receivedAtMs: now },
    { accountId: busy, visitorId: 'other', receivedAtMs: now },
    { accountId: quiet, visitorId: 'ann', receivedAtMs: before },
    { accountId: quiet, visitorId: 'bob', receivedAtMs: before },
    { accountId: 'without denials', visitorId: 'bob', receivedAtMs: before },
  ];
  expect(await deniedTo(events)).toEqual([true, true, false, true, false, false]);
  // A full stream removes the oldest notices of all accounts.
  await jsm.streams.purge(streams.withdrawals, { keep: 4 });
  expect(await deniedTo(events)).toEqual([true, true, false, true, true, true]);
});
