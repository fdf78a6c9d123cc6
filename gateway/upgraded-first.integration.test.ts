import { expect, onTestFinished, test } from 'vitest';
import { client } from '../shared/nats/connection/client.ts';
import { buckets, streams } from '../shared/nats/streams/topology.ts';
import { createNatsFolder, startTestNats } from '../shared/testing/servers.ts';
import { startGatewayHere } from './testing/gateway-here.ts';
import { openTestLog } from './testing/test-log.ts';
import { allTestSources, testSources } from './testing/test-sources.ts';

/** The streams that a gateway requires. All others may be missing until the services that create them are upgraded. */
const needed: readonly string[] = [
  streams.ingest,
  streams.canary,
  ...[buckets.config, buckets.gatewayConfig, buckets.health, buckets.leases].map((name) => `KV_${name}`),
];

test('upgrade: a gateway that is upgraded first starts on a log without the streams and buckets it does not use', async () => {
  const nats = await startTestNats({ storeDir: await createNatsFolder() });
  onTestFinished(() => nats.stop());
  await (await startGatewayHere(nats.url)).stop();
  const log = await openTestLog(nats.url);
  onTestFinished(() => log.close());
  const { jsm } = log.connection[client];
  const names = await jsm.streams.names().next();
  const removed = names.filter((name) => !needed.includes(name));
  expect(removed).toContain(`KV_${buckets.positions}`);
  for (const name of removed) await jsm.streams.delete(name);

  const gateway = await startGatewayHere(nats.url, {}, { makesLog: false });
  onTestFinished(() => gateway.stop());
  await log.publishSources(allTestSources);
  const body = JSON.stringify({ token: testSources.server.token, event: 'Counted' });
  await expect
    .poll(async () => (await fetch(`${gateway.url}/api/v1/track`, { method: 'POST', body })).status)
    .toBe(200);
  expect((await jsm.streams.names().next()).toSorted()).toEqual([...needed].toSorted());
});
