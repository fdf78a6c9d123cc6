import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AccountConfig } from '../../shared/contracts/config/account-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { OutboxRow } from '../../shared/postgres/entities.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../shared/testing/log-gate.ts';
import type { LogGate } from '../../shared/testing/log-gate.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createAccountPublisher } from './account-publisher.ts';

let nats: NatsServer;
/** A proxy between the leading control plane and the log. */
let gate: LogGate;
let plane: TestControlPlane;
let log: LogConnection;
let buckets: Buckets;

beforeAll(async () => {
  nats = await startTestNats();
  gate = await openLogGate(nats.url);
  plane = await startTestControlPlane({ NATS_URL: gate.url });
  log = await connectLog({ url: nats.url, name: 'test' });
  buckets = await openBuckets(log, 1);
});
afterAll(async () => {
  await log.close();
  await plane.stop();
  await gate.close();
  await nats.stop();
});

/** Version number and revision of an account's configuration in the bucket. */
async function pushed({ accountId }: Client) {
  const entry = await buckets.config.get(accountKey(accountId));
  if (entry?.value === undefined) return undefined;
  const { versionNumber } = JSON.parse(Buffer.from(entry.value).toString('utf8')) as AccountConfig;
  return { versionNumber, revision: entry.revision };
}
const rowsOf = ({ accountId }: Client) =>
  plane.storage.fork().find(OutboxRow, { accountId }, { orderBy: { id: 'asc' } });
const keyOf = ({ accountId }: Client): string => `$KV.CONFIG.${accountKey(accountId)}`;
const addSource = (client: Client): Promise<unknown> => client.post('/sources', { type: 'NodejsApi' });

test('order of effects: a change is recorded as published only once the bucket has it', async () => {
  const client = await plane.newAccount();
  const refused = gate.refuse(keyOf(client));
  await addSource(client);
  await client.publish();
  await expect.poll(() => refused.messages.length).toBeGreaterThan(1);
  expect((await rowsOf(client)).map(({ pushedAt }) => pushedAt)).toEqual([null]);
  expect(await pushed(client)).toBeUndefined();
  refused.release();
  await expect.poll(async () => (await rowsOf(client))[0]?.pushedAt).toBeInstanceOf(Date);
  expect(await pushed(client)).toMatchObject({ versionNumber: 1, revision: (await rowsOf(client))[0]?.revision });
});

test('order of effects: a change made during an earlier publish is published after it', async () => {
  const client = await plane.newAccount();
  const held = gate.hold(keyOf(client));
  await addSource(client);
  await client.publish();
  await held.arrived;
  await addSource(client);
  await client.publish();
  held.release();
  await expect.poll(async () => (await rowsOf(client)).at(-1)?.pushedAt).toBeInstanceOf(Date);
  const rows = await rowsOf(client);
  expect(rows).toHaveLength(2);
  expect(await pushed(client)).toEqual({ versionNumber: 2, revision: rows[1]?.revision });
  // Equal if the first write took so long that both versions were published together.
  expect(rows[0]?.revision).toBeLessThanOrEqual(rows[1]?.revision ?? 0);
});

test.each(['read', 'write'] as const)(
  'predecessor: a publisher that stood still before its %s of the bucket does not write over what its successor published',
  async (of) => {
    const client = await plane.newAccount();
    await addSource(client);
    await client.publish();
    const own = await openLogGate(nats.url);
    const connection = await connectLog({ url: asLogUser(own.url, 'controlPlane'), name: 'predecessor' });
    const ownBuckets = await openBuckets(connection, 1);
    const predecessor = createAccountPublisher({
      storage: plane.storage,
      signer: undefined,
      now: () => new Date(),
    });
    // An outdated entry, so that the publisher has something to write.
    await buckets.config.put(accountKey(client.accountId), Buffer.from('{}'));
    const held = own.hold(of === 'write' ? keyOf(client) : '$JS.API.STREAM.MSG.GET.KV_CONFIG');
    const publishing = predecessor.publish(ownBuckets, client.accountId);
    await held.arrived;
    await addSource(client);
    await client.publish();
    await expect.poll(() => pushed(client)).toMatchObject({ versionNumber: 2 });
    const successors = await pushed(client);
    held.release();
    expect(await publishing).toMatchObject({ written: false, revision: successors?.revision });
    expect(await pushed(client)).toEqual(successors);
    await connection.close();
    await own.close();
  },
);
