import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayConfigOf } from '../../shared/collections/gateway-collections.ts';
import { gatewaySignee } from '../../shared/contracts/config/gateway-config.ts';
import { createConfigSigner, newConfigSigningKey } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { NotSignedError, awaitTrusted } from '../../shared/nats/buckets/config-feed.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import { openTestLog, testAccountId } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

let nats: NatsServer;
let log: TestLog;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
});
afterAll(async () => {
  await log.close();
  await nats.stop();
});

test('signed configuration: a gateway upgraded before the control plane accepts no event until the configuration is signed', async () => {
  const signer = createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  if (signer === undefined) throw new Error('there is no key');
  await log.publishSources(allTestSources);
  const port = await findFreePort();
  const track = async (): Promise<number> => {
    const body = JSON.stringify({ token: testSources.server.token, event: 'Signed', userId: 'ann' });
    return (await fetch(`http://127.0.0.1:${port}/api/v1/track`, { method: 'POST', body })).status;
  };
  let isStarted = false;
  const starting = startGatewayHere(nats.url, {
    GATEWAY_PORT: String(port),
    CONFIG_PUBLIC_KEYS: signer.publicKey,
  }).finally(() => {
    isStarted = true;
  });
  const { gatewayConfig: config, leases } = await openBuckets(log.connection, 1);
  await expect.poll(async () => (await leases.keys('gateway.*')).length, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect(track()).rejects.toThrow(/fetch failed/);
  expect(isStarted).toBe(false);
  const key = accountKey(testAccountId);
  const unsigned = (await config.get(key))?.value ?? new Uint8Array();
  await config.put(key, signer.sign(gatewaySignee(testAccountId), unsigned, Date.now()));
  const gateway = await starting;
  try {
    expect(await track()).toBe(200);
    // Unsigned, as from an older control plane or a stranger, so the signed configuration stays in force.
    await log.publishSources([]);
    const revision = 1_000;
    const next = gatewayConfigOf(testAccountConfig({}, { accountId: 'account-2' }), revision);
    await config.put(accountKey('account-2'), signer.sign(gatewaySignee('account-2'), next, Date.now()));
    await expect.poll(() => gateway.metrics()).toContain(`sluice_config_revision ${revision}`);
    expect(await track()).toBe(200);
  } finally {
    await gateway.stop();
  }
});

test('signed configuration: a gateway ends if no configuration is signed, but not if only some are unsigned', async () => {
  const feed = { ready: true, untrusted: 2, trusted: 0 };
  await expect(awaitTrusted(feed, 1)).rejects.toThrow(NotSignedError);
  await awaitTrusted({ ...feed, trusted: 1 }, 1);
  await awaitTrusted({ ...feed, untrusted: 0 }, 1);
});
