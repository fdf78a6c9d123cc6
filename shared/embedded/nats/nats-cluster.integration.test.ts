import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';

import { openBucket } from '../../nats/buckets/bucket.ts';
import { connectLog } from '../../nats/connection/connection.ts';
import { createNatsFolder, natsBinaryPath, startTestNatsCluster } from '../../testing/servers.ts';
import { startNatsCluster } from './nats-cluster.ts';
import { claimFolder } from '../machine/folder-claim.ts';

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) {
    await end();
  }
});

test('nats cluster: three nodes replicate a bucket, which survives the loss of one', async () => {
  const nodes = await startTestNatsCluster();
  ended.push(...nodes.map((node) => () => node.stop()));
  const log = await connectLog({ url: nodes.map(({ url }) => url).join(','), name: 'test' });
  ended.push(() => log.close());
  const bucket = await openBucket(log, { name: 'TEST', replicas: 3, bytesMax: 1_000_000 });
  await bucket.put('key', Buffer.from('before'));
  await nodes[0]?.kill();
  // If the killed node was the bucket's leader, the other nodes need a moment to elect a leader.
  await eventually(() => bucket.put('key', Buffer.from('after')));
  const found = await eventually(() => bucket.get('key'));
  expect(Buffer.from(found?.value ?? []).toString()).toBe('after');
});

test('nats cluster: if one node cannot start, the other nodes are stopped', async () => {
  const binaryPath = await natsBinaryPath();
  const storeDirs = [await createNatsFolder(), await createNatsFolder()];
  const held = await claimFolder(storeDirs[1] ?? '');
  const starting = startNatsCluster(
    'broken',
    storeDirs.map((storeDir) => ({ binaryPath, storeDir })),
  );
  await expect(starting).rejects.toMatchObject({ code: 'folder_in_use' });
  await held.release();
  await (await claimFolder(storeDirs[0] ?? '')).release();
});

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
      await delay(100);
    }
  }
}
