import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AccountConfig } from '../../shared/contracts/config/account-config.ts';
import {
  createConfigSigner,
  createConfigTrust,
  newConfigSigningKey,
  withoutSignature,
} from '../../shared/contracts/config/signed-config.ts';
import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';
import { followConfig } from '../../shared/nats/buckets/config-feed.ts';
import { holdProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { startTestNats, createNatsFolder } from '../../shared/testing/servers.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { OutboxRow } from '../../shared/postgres/entities.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { createAccountPublisher } from './account-publisher.ts';
import { createConfigPublisher } from './config-publisher.ts';
import { createPublishingService } from './publishing-service.ts';

let plane: TestControlPlane;
let buckets: Buckets;

beforeAll(async () => {
  plane = await startTestControlPlane();
  buckets = await openBuckets(plane.log, 1);
});
afterAll(() => plane.stop());

const settings = { httpDestinationUrl: 'https://example.com/' };
const addDestination = (client: Client, body: object = {}) =>
  client.post('/destinations', { type: 'HTTPDestination', settings, ...body });
const pushed = async (client: Client, from = buckets): Promise<AccountConfig | undefined> => {
  const entry = await from.config.get(accountKey(client.accountId));
  return entry?.value === undefined
    ? undefined
    : (JSON.parse(Buffer.from(entry.value).toString('utf8')) as AccountConfig);
};

test('publish: the bucket holds the snapshot and the hashes of its keys, and nothing in the clear', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  await addDestination(client, { settings: { ...settings, headers: '{"X-Key":"canary-secret"}' } });
  const { body: tokens } = await client.get(`/sources/${source.id}/tokens`);
  const version = await client.publish();
  const config = await pushed(client);
  expect(config).toMatchObject({
    format: 1,
    accountId: client.accountId,
    versionId: version.id,
    versionNumber: 1,
    publishedAt: version.publishedAt,
  });
  expect(config?.collections['sources']?.[0]).toMatchObject({ id: source.id, type: 'NodejsApi', status: 'Enabled' });
  const keys = [
    { keyHash: hashSourceKey(tokens.token), sourceId: source.id, test: false },
    { keyHash: hashSourceKey(tokens.testToken), sourceId: source.id, test: true },
  ];
  expect(config?.sourceKeys).toEqual(expect.arrayContaining(keys));
  const text = JSON.stringify(config);
  expect(text).not.toContain('canary-secret');
  expect(text).not.toContain(tokens.token);
  expect(text).toMatch(/enc:v1:/);
});

test('publish: gateways get the sources but nothing of the destinations, and an outdated entry is replaced', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  await addDestination(client, { settings: { httpDestinationUrl: 'https://hooks.example/TOPSECRET' } });
  await client.publish();
  const key = accountKey(client.accountId);
  const read = async () => {
    const [whole, ofGateways] = await Promise.all([buckets.config.get(key), buckets.gatewayConfig.get(key)]);
    const text = Buffer.from(ofGateways?.value ?? []).toString('utf8');
    return { text, revision: whole?.revision, document: JSON.parse(text) as AccountConfig & { revision: number } };
  };
  const first = await read();
  expect(first.document.revision).toBe(first.revision);
  expect(first.document.collections['sources']).toMatchObject([{ id: source.id, status: 'Enabled' }]);
  expect(first.document.collections).not.toHaveProperty('destinations');
  expect(first.text).not.toContain('TOPSECRET');
  // An earlier version of the control plane leaves this state: only CONFIG has the newest configuration.
  const whole = (await buckets.config.get(key))?.value ?? new Uint8Array();
  await buckets.config.put(key, whole);
  const publisher = createAccountPublisher({ storage: plane.storage, signer: undefined, now: () => new Date() });
  expect(await publisher.reconcile(buckets, client.accountId)).toMatchObject({ written: true });
  const second = await read();
  expect(second.document.revision).toBe(second.revision);
  expect(second.revision).toBeGreaterThan(first.revision ?? 0);
});

test('publish: answers after every live process runs the revision', async () => {
  const client = await plane.newAccount();
  const lease = holdProcessLease(buckets.leases, { kind: 'gateway', instanceId: 'test' }, () => undefined);
  let version = 0;
  const feed = await followConfig(buckets.config, {
    trust: createConfigTrust({}),
    read: (config) => config,
    apply({ accountId, config, revision }) {
      if (accountId === client.accountId) version = config?.versionNumber ?? 0;
      lease.report(revision);
    },
    onRejected: () => undefined,
  });
  try {
    await expect.poll(() => buckets.leases.keys()).toContain('gateway.test');
    for (const expected of [1, 2, 3]) {
      await addDestination(client);
      await client.publish();
      expect(version).toBe(expected);
    }
  } finally {
    feed.stop();
    await lease.release();
  }
});

test('publish: is applied once every process with a lease runs the revision; a process whose lease has ended does not count', async () => {
  const client = await plane.newAccount();
  await addDestination(client);
  await client.publish();
  const [row] = await plane.storage.fork().find(OutboxRow, { accountId: client.accountId });
  const revision = row?.revision ?? expect.unreachable();
  const lease = (reported: number, ageMs = 0) => ({
    value: { kind: 'gateway' as const, instanceId: 'i', startedAt: '', revision: reported },
    receivedAtMs: performance.now() - ageMs,
  });
  const entries = new Map([
    ['gateway.current', lease(revision)],
    ['gateway.late', lease(revision - 1)],
    ['gateway.ended', lease(revision - 1, 3_600_000)],
  ]);
  let looks = 0;
  const service = createPublishingService({
    storage: plane.storage,
    logBuckets: { connection: plane.log },
    leases: {
      get entries() {
        looks += 1;
        return entries;
      },
    },
    documentBytesMax: 1,
    wake: () => undefined,
  });
  let isApplied: boolean | undefined;
  const applied = service.whenApplied(Number(row?.id), 60_000).then((answer) => (isApplied = answer));
  await expect.poll(() => looks).toBeGreaterThan(2);
  expect(isApplied).toBeUndefined();
  entries.set('gateway.late', lease(revision + 1));
  expect(await applied).toBe(true);
  entries.set('gateway.late', lease(revision - 1));
  expect(await service.whenApplied(Number(row?.id), 50)).toBe(false);
});

test('publish: a process that does not apply the revision delays the answer for a while, but not forever', async () => {
  const client = await plane.newAccount();
  const lease = holdProcessLease(buckets.leases, { kind: 'pipeline', instanceId: 'stuck' }, () => undefined);
  lease.report(1);
  await addDestination(client);
  expect(await client.publish()).toMatchObject({ isPublished: true });
  await lease.release();
  expect(await pushed(client)).toMatchObject({ versionNumber: 1 });
});

test('rotate: new keys reach the bucket at once, without a new version', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const version = await client.publish();
  const { body: before } = await client.get(`/sources/${source.id}/tokens`);
  const { body: after } = await client.post(`/sources/${source.id}/tokens/rotate`);
  expect(after.token).toMatch(/^src_live_[A-Za-z0-9]{32}$/);
  expect(after.testToken).toMatch(/^src_test_[A-Za-z0-9]{32}$/);
  expect(after.token).not.toBe(before.token);
  expect((await client.get(`/sources/${source.id}/tokens`)).body).toEqual(after);
  const config = await pushed(client);
  expect(config?.versionId).toBe(version.id);
  expect(config?.sourceKeys.map(({ keyHash }) => keyHash).sort()).toEqual(
    [after.token, after.testToken].map(hashSourceKey).sort(),
  );
});

test('publish: a configuration larger than the bucket takes is a 400 that names both sizes, and nothing changes', async () => {
  const small = await plane.startAnother({ CONFIG_BYTES_MAX: 4_000 });
  const client = await plane.newAccount();
  const live = await client.publish();
  for (let index = 0; index < 10; index += 1) await addDestination(client, { name: `${index}`.repeat(200) });
  const { body: version } = await client.post('/versions');
  const answer = await fetch(`${small.baseUrl}/rest/v1/versions/${version.id}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(answer.status).toBe(400);
  expect(((await answer.json()) as { error: string }).error).toMatch(/too large to publish: \d+ bytes of at most 4000/);
  expect((await client.get(`/versions/${version.id}`)).body).toEqual(version);
  expect((await client.get(`/versions/${live.id}`)).body.isPublished).toBe(true);
  expect(await pushed(client)).toMatchObject({ versionNumber: 1 });
  await small.stop();
});

test('publish: a setting or a secret that makes the live configuration too large is a 400 that names it, and nothing changes', async () => {
  const small = await plane.startAnother({ CONFIG_BYTES_MAX: 4_000 });
  onTestFinished(() => small.stop());
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'WebSource', name: 'x'.repeat(200) });
  await client.publish();
  const ask = async (method: string, path: string, body?: object): Promise<readonly [number, string]> => {
    const answer = await fetch(`${small.baseUrl}/rest/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
    });
    return [answer.status, ((await answer.json()) as { error?: string }).error ?? ''];
  };
  const values = (count: number) => Array.from({ length: count }, (_, index) => `${index}`.padEnd(100, 'x'));
  const tooLarge = (what: string) => [
    400,
    expect.stringMatching(`^${what}.*too large to publish: \\d+ bytes of at most 4000$`),
  ];
  expect(await ask('PATCH', '/account', { identity: { blockedValues: values(60) } })).toEqual(
    tooLarge('identity.blockedValues: '),
  );
  expect((await client.get('/account')).body.identity.blockedValues).toEqual([]);
  // The larger limit of another control plane lets the configuration grow.
  await client.patch('/account', { identity: { blockedValues: values(60) } });
  const { body: before } = await client.get(`/sources/${source.id}/tokens`);
  const rotate = `/sources/${source.id}/secret/rotate`;
  expect(await ask('POST', rotate)).toEqual(tooLarge('with a new secret of the source, '));
  expect(await ask('POST', `/sources/${source.id}/tokens/rotate`)).toEqual(tooLarge('with new keys of the source, '));
  expect((await client.get(`/sources/${source.id}/tokens`)).body).toEqual(before);
  expect(await ask('PATCH', '/account', { identity: { blockedValues: values(1) } })).toEqual([200, '']);
  expect(await ask('POST', rotate)).toEqual([200, '']);
});

test('accounts that cannot be published delay no other account, do not open the log again, and wait only at the leader', async () => {
  // A configuration is soon too large for this log.
  const own = await startTestControlPlane({}, { maxPayloadBytes: 262_144 });
  onTestFinished(() => own.stop());
  const ownBuckets = await openBuckets(own.log, 1);
  const addRow = async ({ accountId }: Client, createdAt: Date, pushedAt: Date | null = null): Promise<number> => {
    const em = own.storage.fork();
    const row = em.create(OutboxRow, { accountId, createdAt, pushedAt, revision: null });
    await em.persist(row).flush();
    return row.id;
  };
  const other = await own.newAccount();
  await other.publish();
  // More than fail before a pass ends, and their changes have waited longest.
  for (let count = 0; count < 4; count += 1) {
    const large = await own.newAccount();
    await large.publish();
    const identity = JSON.stringify({ blockedValues: ['x'.repeat(own.log.messageBytesMax)] });
    await own.storage
      .fork()
      .execute('update accounts set identity = ?::jsonb where id = ?', [identity, large.accountId]);
    await addRow(large, new Date());
  }
  await addDestination(other);
  await other.publish();
  await expect.poll(() => pushed(other, ownBuckets)).toMatchObject({ versionNumber: 2 });
  const old = await addRow(other, new Date(0), new Date(0));
  await ownBuckets.config.delete(accountKey(other.accountId));
  let reopened = 0;
  let leading = true;
  const publisher = createConfigPublisher({
    storage: own.storage,
    logBuckets: {
      connection: own.log,
      buckets: ownBuckets,
      partitions: 1,
      reopen: async () => void (reopened += 1),
      stop: () => undefined,
    },
    signer: undefined,
    logger: createLogger('test', 'silent'),
    pushBytesPerS: 4 * 1024 ** 2,
    leading: () => leading,
    now: () => new Date(),
  });
  onTestFinished(() => publisher.stop());
  publisher.wake();
  await expect.poll(() => pushed(other, ownBuckets)).toMatchObject({ versionNumber: 2 });
  await expect.poll(() => own.storage.fork().count(OutboxRow, { id: old })).toBe(0);
  await expect.poll(() => publisher.failures).toBeGreaterThan(1);
  expect(reopened).toBe(0);
  await expect.poll(() => publisher.waiting).toBeGreaterThan(0);
  // Another control plane takes over, and counts the waiting changes.
  leading = false;
  expect(publisher.waiting).toBe(0);
});

test('two control planes: a version published at the follower is pushed by the leader', async () => {
  const second = await plane.startAnother();
  const client = await plane.newAccount();
  const { body: version } = await client.post('/versions');
  const answer = await fetch(`${second.baseUrl}/rest/v1/versions/${version.id}/publish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(answer.status).toBe(200);
  expect(await pushed(client)).toMatchObject({ versionNumber: 1 });
  await second.stop();
});

test('a log that was away or wiped gets every configuration as soon as it is back', async () => {
  const storeDir = await createNatsFolder();
  let nats = await startTestNats({ syncAlways: false, storeDir });
  const natsPort = nats.port;
  const own = await startTestControlPlane({ NATS_URL: nats.url });
  const client = await own.newAccount();
  await addDestination(client);
  await client.publish();
  await nats.stop();
  // While the log is unavailable, publishing is answered and the push waits in the outbox.
  await addDestination(client);
  const version = await client.publish();
  expect(version).toMatchObject({ versionNumber: 2, isPublished: true });
  expect(await own.storage.fork().count(OutboxRow, { pushedAt: null })).toBe(1);
  nats = await startTestNats({ syncAlways: false, storeDir, port: natsPort });
  const log = await connectLog({ url: nats.url, name: 'test' });
  const followed = await openBuckets(log, 1);
  await expect.poll(() => pushed(client, followed), { timeout: 45_000 }).toMatchObject({ versionNumber: 2 });
  await expect.poll(() => own.storage.fork().count(OutboxRow, { pushedAt: null })).toBe(0);
  await log.close();
  await nats.stop();
  // A new server without data replaces the log.
  nats = await startTestNats({ syncAlways: false, port: natsPort });
  const emptyLog = await connectLog({ url: nats.url, name: 'test' });
  const empty = await openBuckets(emptyLog, 1);
  await expect.poll(() => pushed(client, empty), { timeout: 45_000 }).toMatchObject({ versionNumber: 2 });
  await addDestination(client);
  await client.publish();
  expect(await pushed(client, empty)).toMatchObject({ versionNumber: 3 });
  await emptyLog.close();
  await own.stop();
  await nats.stop();
});

test('publish: an entry that is not signed by the key for its account is replaced by a signed entry', async () => {
  const client = await plane.newAccount();
  await client.publish();
  const key = accountKey(client.accountId);
  const newSigner = (): ConfigSigner | undefined => createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  const signer = newSigner();
  let nowMs = 1_780_000_000_000;
  const publisher = createAccountPublisher({ storage: plane.storage, signer, now: () => new Date(nowMs) });
  const trust = createConfigTrust({ CONFIG_PUBLIC_KEYS: signer?.publicKey });
  const reconcile = async (): Promise<boolean | undefined> => {
    const published = await publisher.reconcile(buckets, client.accountId);
    trust.accept(client.accountId, (await buckets.config.get(key))?.value);
    expect(await pushed(client)).toMatchObject({ versionNumber: 1 });
    return published?.written;
  };
  // At first, the stored entry has no signature.
  expect(await reconcile()).toBe(true);
  expect(await reconcile()).toBe(false);
  const live = (await buckets.config.get(key))?.value ?? new Uint8Array();
  const document = withoutSignature(live);
  const forged = Buffer.from(Buffer.from(live).toString().replace('"versionNumber":1', '"versionNumber":9'));
  const other = newSigner()?.sign(client.accountId, document, nowMs * 2) ?? document;
  for (const found of [document, forged, other]) {
    await buckets.config.put(key, found);
    nowMs += 1;
    expect(await reconcile()).toBe(true);
  }
  await buckets.config.delete(key);
  nowMs += 1;
  expect(await reconcile()).toBe(true);
  // Readers refuse an earlier signing time, so a publisher whose clock was set back must sign with a later one.
  nowMs -= 3_600_000;
  await addDestination(client);
  await client.publish();
  await publisher.publish(buckets, client.accountId);
  trust.accept(client.accountId, (await buckets.config.get(key))?.value);
  expect(await pushed(client)).toMatchObject({ versionNumber: 2 });
});
