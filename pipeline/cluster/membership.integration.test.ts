import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { encodeReport, leaseKey } from '../../shared/contracts/process-report.ts';
import { holdProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import type { ProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { until } from '../../shared/testing/until.ts';
import { followMembership } from './membership.ts';
import type { Membership } from './membership.ts';

let nats: NatsServer;
let connection: LogConnection;
let buckets: Buckets;

beforeAll(async () => {
  nats = await startTestNats();
  await makeTestLog(nats, testTopology());
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'test' });
  buckets = await openBuckets(connection, 1);
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

const noError = (error: unknown): void => expect(error).toBeUndefined();

async function join(
  instanceId: string,
  handOverMs: number,
  silentForMs = 5_000,
): Promise<{ readonly membership: Membership; readonly lease: ProcessLease }> {
  const lease = holdProcessLease(buckets.leases, { kind: 'pipeline', instanceId }, noError, 200);
  lease.report(0);
  const membership = await followMembership({
    bucket: buckets.leases,
    connection,
    instanceId,
    times: { silentForMs, handOverMs },
    onError: noError,
  });
  onTestFinished(async () => {
    membership.stop();
    await lease.release();
  });
  return { membership, lease };
}

/** Writes a lease once and never renews it, like an instance that crashed. */
async function reportOnce(instanceId: string): Promise<void> {
  const name = { kind: 'pipeline', instanceId } as const;
  const now = new Date().toISOString();
  const report = encodeReport({ ...name, startedAt: now, version: '0', revision: 0, revisionAt: now });
  await buckets.leases.put(leaseKey(name), report);
}

const knows = (membership: Membership, instances: string): Promise<void> =>
  until(`it knows ${instances}`, () => membership.instances.join() === instances);

async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false;
  void waiting.then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  return over;
}

test('membership: an instance starts its actors once the other instances have released them', async () => {
  const one = await join('one', 60_000);
  await one.membership.untilShared();
  const two = await join('two', 60_000);
  await knows(one.membership, 'one,two');
  await knows(two.membership, 'one,two');
  const waiting = two.membership.untilShared();
  expect(await isOver(waiting)).toBe(false);
  one.lease.letGo(['one', 'three']);
  one.lease.letGo(['one']);
  expect(await isOver(waiting)).toBe(false);
  one.lease.letGo(one.membership.instances);
  await waiting;
});

test('membership: an instance that leaves owns nothing any more, and the other one waits until it has ended', async () => {
  const one = await join('one', 60_000);
  const two = await join('two', 60_000);
  await knows(two.membership, 'one,two');
  one.lease.letGo(['one', 'two']);
  await two.membership.untilShared();
  one.lease.leave();
  await knows(two.membership, 'two');
  const waiting = two.membership.untilShared();
  expect(await isOver(waiting)).toBe(false);
  await one.lease.release();
  await waiting;
});

test('membership: an instance that does not release its actors is waited for only until the time limit', async () => {
  const one = await join('one', 60_000);
  const two = await join('two', 0);
  await knows(two.membership, 'one,two');
  await two.membership.untilShared();
  expect(one.membership.instances).toContain('one');
});

test('membership: while the log is slow for all instances, none is declared dead; afterwards a silent instance is declared dead', async () => {
  const silentForMs = 1_000;
  const one = await join('one', 0, silentForMs);
  const two = await join('two', 0, silentForMs);
  await knows(one.membership, 'one,two');
  await knows(two.membership, 'one,two');
  const seen: string[] = [];
  for (const { membership } of [one, two]) membership.onChanged((instances) => seen.push(instances.join()));
  process.kill(nats.pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, silentForMs * 2));
  process.kill(nats.pid, 'SIGCONT');
  await reportOnce('three');
  await knows(one.membership, 'one,three,two');
  await knows(two.membership, 'one,three,two');
  expect(seen).toEqual(['one,three,two', 'one,three,two']);
  await knows(one.membership, 'one,two');
});
