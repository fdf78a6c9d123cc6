import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import type { Bucket } from './bucket.ts';
import { openLeases } from './open-buckets.ts';
import { startTestNats } from '../../testing/servers.ts';
import { claimInstanceId, watchInstanceId } from './instance-claim.ts';
import { holdProcessLease } from './process-lease.ts';
import type { ProcessReport } from '../../contracts/process-report.ts';

let server: NatsServer;
let connection: LogConnection;
let bucket: Bucket;
let nth = 0;
let name: { readonly kind: 'pipeline'; readonly instanceId: string };

beforeAll(async () => {
  server = await startTestNats();
  connection = await connectLog({ url: server.url, name: 'test' });
  bucket = await openLeases(connection, 1);
});
beforeEach(() => {
  nth += 1;
  name = { kind: 'pipeline', instanceId: `test-${nth}` };
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

const key = (): string => `${name.kind}.${name.instanceId}`;
const entryOf = async (): Promise<ProcessReport> =>
  JSON.parse(Buffer.from((await bucket.get(key()))?.value ?? []).toString()) as ProcessReport;
/** Changes the holder of the entry. */
const rewrite = async (holder: Partial<ProcessReport['holder']>): Promise<void> => {
  const entry = await entryOf();
  await bucket.put(key(), Buffer.from(JSON.stringify({ ...entry, holder: { ...entry.holder, ...holder } })));
};
/** Claims the id, and returns whether the entry is from this claim. */
const claims = async (waitMs?: number): Promise<boolean> => {
  const { nonce } = await claimInstanceId(bucket, name, waitMs);
  return (await entryOf()).holder?.nonce === nonce;
};
const foreign = { nonce: 'another', machine: 'pid:[1]', startedAt: 'boot:1', pid: process.pid };

test('instance claim: if two processes claim the same id at once, one is refused, and the error names the holder', async () => {
  const both = await Promise.allSettled([claimInstanceId(bucket, name), claimInstanceId(bucket, name)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(claimInstanceId(bucket, name)).rejects.toMatchObject({
    code: 'instance_id_taken',
    message: expect.stringMatching(
      new RegExp(`INSTANCE_ID ${name.instanceId}: process ${process.pid} on this machine`),
    ),
  });
  // A process of another kind may have the same id.
  await claimInstanceId(bucket, { ...name, kind: 'gateway' });
});

test('instance claim: a released id is free', async () => {
  const holder = await claimInstanceId(bucket, name);
  const lease = holdProcessLease(bucket, { ...name, holder }, () => undefined);
  lease.report(7);
  await lease.release();
  expect(await claims()).toBe(true);
});

test('instance claim: the id of a process that was killed on this machine is free at once', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await claimInstanceId(bucket, name);
  await rewrite({ nonce: 'another', pid: child.pid ?? 0 });
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  // The test would time out if the claim waited this long.
  expect(await claims(600_000)).toBe(true);
});

test('instance claim: an id is free at once if its holder’s process id now belongs to another process', async () => {
  await claimInstanceId(bucket, name);
  const { holder } = await entryOf();
  await rewrite({ startedAt: `${holder?.startedAt?.split(':')[0]}:1` });
  expect(await claims(600_000)).toBe(true);
});

test('instance claim: the id of a process on another machine is taken while it is renewed, and free afterwards', async () => {
  await claimInstanceId(bucket, name);
  await rewrite(foreign);
  const state = { isRenewed: true };
  const renewing = (async () => {
    while (state.isRenewed) await rewrite(foreign);
  })();
  await expect(claimInstanceId(bucket, name, 600_000)).rejects.toThrow(/a process on another machine/);
  state.isRenewed = false;
  await renewing;
  expect(await claims(300)).toBe(true);
});

test('instance claim: an entry from an old build that names no holder is free after the wait', async () => {
  await bucket.put(key(), Buffer.from(JSON.stringify({ ...name, startedAt: '', revision: 1 })));
  expect(await claims(300)).toBe(true);
});

test('instance claim: a process notices that another process took its id', async () => {
  const holder = await claimInstanceId(bucket, name);
  let taken = 0;
  let looks = 0;
  const watched: Bucket = {
    ...bucket,
    get: (asked) => {
      looks += 1;
      return bucket.get(asked);
    },
  };
  const watch = watchInstanceId(watched, name, holder, () => (taken += 1), 20);
  onTestFinished(() => watch.stop());
  await expect.poll(() => looks).toBeGreaterThan(3);
  expect(taken).toBe(0);
  await rewrite(foreign);
  await expect.poll(() => taken).toBeGreaterThan(0);
});
