import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { logUsers } from '../../shared/nats/users/log-users.ts';
import { buckets } from '../../shared/nats/streams/topology.ts';
import { asLogUser, asOperator, testUsersConfig } from '../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import { openTestLog, testAccountId } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';
import { NothingForGatewaysError, awaitAccounts } from './await-accounts.ts';

const secret = 'TOPSECRET-of-a-destination';
const destination = {
  id: 'd1',
  name: 'hook',
  type: 'HTTPDestination',
  status: 'Enabled',
  settings: { httpDestinationUrl: `https://hooks.example/${secret}`, method: 'POST' },
  limitedToSourceIds: null,
  hashingSalt: secret,
};

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

async function track(port: number): Promise<number> {
  const body = JSON.stringify({ token: testSources.server.token, event: 'Counted', userId: 'ann' });
  return (await fetch(`http://127.0.0.1:${port}/api/v1/track`, { method: 'POST', body })).status;
}

test("gateway configuration: a gateway's credentials give no access to the settings of a destination", async () => {
  const revision = await log.publishSources(allTestSources, { destinations: [destination] });
  const gateway = await startGatewayHere(nats.url);
  onTestFinished(() => gateway.stop());
  await expect.poll(() => gateway.metrics()).toContain(`sluice_config_revision ${revision}`);
  expect(await track(gateway.port)).toBe(200);

  const { streams } = log.connection[client].jsm;
  const names = await streams.names().next();
  const keys = [...Object.values(buckets).map((bucket) => `$KV.${bucket}.${accountKey(testAccountId)}`), 'ingest.0'];
  const connection = await connectLog({ url: asLogUser(nats.url, 'gateway'), name: 'taken over' });
  const { nc, createInbox } = connection[client];
  const heard: string[] = [];
  let refused = 0;
  const ask = async (subject: string, body: object): Promise<void> => {
    try {
      const answer = (await nc.request(subject, JSON.stringify(body), { timeout: 5_000 })).json<StoredAnswer>();
      heard.push(Buffer.from(answer.message?.data ?? '', 'base64').toString(), JSON.stringify(answer));
    } catch {
      refused += 1;
    }
  };
  for (const stream of names) {
    for (const key of keys) {
      await ask(`$JS.API.STREAM.MSG.GET.${stream}`, { last_by_subj: key });
      await ask(`$JS.API.DIRECT.GET.${stream}.${key}`, {});
    }
    const deliverSubject = createInbox();
    const inbox = nc.subscribe(deliverSubject, {
      callback: (_error, { data }) => heard.push(Buffer.from(data).toString()),
    });
    const all = { deliver_subject: deliverSubject, ack_policy: 'none', deliver_policy: 'all' };
    const request = { stream_name: stream, config: all };
    for (const name of ['', '.mine', `.mine.${keys[0]}`, '.mine.>'])
      await ask(`$JS.API.CONSUMER.CREATE.${stream}${name}`, request);
    await nc.flush();
    inbox.unsubscribe();
  }
  const everything = heard.join('\n');
  expect(refused).toBeGreaterThan(names.length);
  // The gateway's user may read GATEWAY_CONFIG.
  expect(everything).toContain(testSources.server.entity.id);
  expect(everything).not.toContain(secret);
  expect(logUsers.gateway.rights?.publish.filter((right) => right.includes('KV_CONFIG'))).toEqual([]);
  await connection.close();
});

test('upgrade: while the control plane is of an earlier version, a gateway accepts no event until it has its configuration', async () => {
  await log.publishSources(allTestSources);
  const { gatewayConfig } = await openBuckets(log.connection, 1);
  await log.connection[client].jsm.streams.purge(`KV_${buckets.gatewayConfig}`);
  expect(await gatewayConfig.keys()).toEqual([]);
  const port = await findFreePort();
  let isStarted = false;
  const starting = startGatewayHere(nats.url, { GATEWAY_PORT: String(port) }).finally(() => {
    isStarted = true;
  });
  const { leases } = await openBuckets(log.connection, 1);
  await expect.poll(async () => (await leases.keys('gateway.*')).length, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect(track(port)).rejects.toThrow(/fetch failed/);
  expect(isStarted).toBe(false);
  // A control plane of this version publishes what GATEWAY_CONFIG lacks.
  await log.publishSources(allTestSources);
  const gateway = await starting;
  onTestFinished(() => gateway.stop());
  expect(await track(port)).toBe(200);
});

/** The users of a version that had no GATEWAY_CONFIG: its gateways read CONFIG. */
function earlierUsers(): string {
  const account = `  ${logUsers.gateway.account}: {`;
  const [before = '', after = ''] = testUsersConfig().split(account);
  const [own = '', ...others] = after.split('\n  }');
  return [
    before,
    account,
    own.replaceAll('KV_GATEWAY_CONFIG', 'KV_CONFIG'),
    ...others.map((text) => `\n  }${text}`),
  ].join('');
}

test('upgrade: while the log has the users of an earlier version, a gateway reads what an earlier control plane publishes', async () => {
  const earlier = await startTestNats({ furtherConfig: earlierUsers() });
  onTestFinished(() => earlier.stop());
  const url = asOperator(earlier.url);
  const gateway = await startGatewayHere(url);
  onTestFinished(() => gateway.stop());
  const earlierLog = await openTestLog(url);
  onTestFinished(() => earlierLog.close());
  expect(await track(gateway.port)).toBe(401);
  await earlierLog.publishAsEarlierVersion(allTestSources);
  await expect.poll(() => track(gateway.port), { timeout: 30_000 }).toBe(200);
  const logBuckets = await openBuckets(earlierLog.connection, 1);
  expect(await logBuckets.gatewayConfig.keys()).toEqual([]);

  // Connects before the reload, because a server may refuse connections while it reloads.
  const asGateway = await connectLog({ url: asLogUser(url, 'gateway'), name: 'reloaded' });
  onTestFinished(() => asGateway.close());
  // The server gets the users of this version. A running gateway continues, and follows later publications.
  const file = join(earlier.storeDir, 'nats-server.conf');
  await writeFile(file, (await readFile(file, 'utf8')).replace(earlierUsers(), testUsersConfig()));
  process.kill(Number(await readFile(join(earlier.storeDir, 'nats-server.pid'), 'utf8')), 'SIGHUP');
  await expect.poll(() => readsConfig(asGateway), { timeout: 30_000 }).toBe(false);
  expect(await track(gateway.port)).toBe(200);
  await earlierLog.publishSources([]);
  await expect.poll(() => track(gateway.port), { timeout: 30_000 }).toBe(401);
});

/** Whether a user may read the whole configuration. */
async function readsConfig(connection: LogConnection): Promise<boolean> {
  const subject = `$JS.API.STREAM.MSG.GET.KV_${buckets.config}`;
  try {
    await connection[client].nc.request(subject, '{"seq":1}', { timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
}

test('gateway configuration: a gateway ends if the configuration of all accounts is missing, but not if only some are missing', async () => {
  const logger = createLogger('gateway', 'silent');
  const missing = (count: number) => () => Promise.resolve(count);
  await expect(awaitAccounts({ missing: missing(2), trusted: 0 }, logger, 1)).rejects.toThrow(NothingForGatewaysError);
  await awaitAccounts({ missing: missing(2), trusted: 1 }, logger, 1);
  await awaitAccounts({ missing: missing(0), trusted: 0 }, logger, 1);
});

type StoredAnswer = { readonly message?: { readonly data?: string } };
