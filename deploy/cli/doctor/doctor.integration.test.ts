import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import pg from 'pg';
import type { Finding } from '../../../shared/doctor/finding.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { keepLoss } from '../../../shared/nats/messages/lost-messages.ts';
import { openBuckets } from '../../../shared/nats/buckets/open-buckets.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { ingestDeadLetterSubject } from '../../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import {
  createSecretBox,
  createSourceSecretBox,
  signingSecretContext,
  sourceKeyContext,
} from '../../../shared/contracts/config/secrets.ts';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { examine } from './examine.ts';

const deadlineMs = 60_000;
vi.setConfig({ testTimeout: 240_000 });
const mebibyte = 1024 ** 2;
const topology = testTopology({ partitions: 2, streamBytesMax: 8 * mebibyte });
const secretsKey = randomBytes(32).toString('base64');

let nats: NatsServer;
let database: TestDatabase;
let source: Record<string, string>;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats({ syncAlways: true }), createTestDatabase()]);
  await migrate(database.url);
  await query(`insert into accounts (id, name) values ($1, 'test')`, [accountId]);
  await query(
    `insert into source_keys (id, account_id, source_id, test, key_hash, sealed_key, created_at)
     values ($1, $2, 's', false, 'h', $3, now())`,
    [randomUUID(), accountId, createSecretBox(secretsKey).seal('key', sourceKeyContext(accountId, 's', false))],
  );
  await onLog(async (connection) => {
    await ensureTopology(connection, topology);
    await openBuckets(connection, topology.replicas);
  });
  source = {
    NATS_URL: asLogUser(nats.url, 'doctor'),
    NATS_MONITOR_URL: nats.monitorUrl,
    DATABASE_URL: database.url,
    SECRETS_KEY: secretsKey,
    LOG_PARTITIONS: String(topology.partitions),
    LOG_INGEST_BYTES_MAX: String(topology.ingestBytesMax),
    LOG_EVENTS_BYTES_MAX: String(topology.eventsBytesMax),
    LOG_RETRY_BYTES_MAX: String(topology.retryBytesMax),
    LOG_DEAD_LETTERS_BYTES_MAX: String(topology.deadLetterBytesMax),
    LOG_INGEST_DEAD_LETTERS_BYTES_MAX: String(topology.ingestDeadLetterBytesMax),
    LOG_DEDUPLICATION_BYTES_MAX: String(topology.deduplicationBytesMax),
  };
});

afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

const accountId = randomUUID();

async function query(sql: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(sql, [...values]);
  } finally {
    await client.end();
  }
}

async function onLog(work: (connection: Awaited<ReturnType<typeof connectLog>>) => Promise<unknown>): Promise<void> {
  const connection = await connectLog({ url: nats.url, name: 'test' });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

const about = (findings: readonly Finding[], name: string): string[] =>
  findings.filter((finding) => finding.about === name).map(({ level }) => level);

test('doctor: servers without a fault cause no warning', async () => {
  const findings = await examine(source, deadlineMs);
  for (const name of [
    'environment',
    'log',
    'nats-server',
    'streams',
    'unreadable events',
    'lost messages',
    'durability',
    'database',
    'PostgreSQL',
    'schema',
  ]) {
    expect([name, about(findings, name)]).toEqual([name, ['ok']]);
  }
  expect(about(findings, 'secrets key')).toEqual(['ok']);
  expect(about(findings, 'HTTP engine')).toEqual(['ok']);
  expect(findings.filter((finding) => finding.about.startsWith('clock of'))).toHaveLength(2);
  // The tests' database does not sync, for speed. The doctor reports that as a failure.
  expect(about(findings, 'database durability')).toEqual(['fail']);
  expect(about(findings, 'disk space')).toHaveLength(1);
  expect(about(findings, 'room for the log')).toHaveLength(1);
  const { port } = nats;
  expect(about(findings, `nats-server sluice-${port}`)).toEqual(['ok']);
  expect(about(findings, `storage of sluice-${port}`)).toEqual(['ok']);
  expect(about(findings, `accounts of sluice-${port}`)).toEqual(['ok']);
});

test('doctor: with the login of a gateway, a healthy log is no fault, and the advice names the login of the doctor', async () => {
  const findings = await examine({ ...source, NATS_URL: asLogUser(nats.url, 'gateway') }, deadlineMs);
  expect(about(findings, 'log')).toEqual(['ok']);
  expect(findings.find((finding) => finding.about === 'streams')).toMatchObject({
    level: 'warn',
    advice: expect.stringContaining('NATS_USER=sluice-doctor') as string,
  });
});

test('doctor: a cluster that any server may join, and services that share an account, are named', async () => {
  const [port, other] = [await findFreePort(), await findFreePort()];
  const furtherConfig = `cluster { name: open, listen: "127.0.0.1:${port}", routes: ["nats://127.0.0.1:${other}"] }`;
  const server = await startTestNats({ serverName: 'open', furtherConfig });
  try {
    const findings = await examine({ ...source, NATS_MONITOR_URL: server.monitorUrl }, deadlineMs);
    expect(about(findings, 'cluster port of open')).toEqual(['fail']);
    expect(about(findings, 'accounts of open')).toEqual(['warn']);
  } finally {
    await server.stop();
  }
  const locked = await startTestNats({
    serverName: 'locked',
    cluster: { name: 'locked', port, routes: [other], password: 'a password' },
  });
  try {
    const findings = await examine({ ...source, NATS_MONITOR_URL: locked.monitorUrl }, deadlineMs);
    expect(findings.find((finding) => finding.about === 'cluster port of locked')).toMatchObject({
      level: 'warn',
      detail: `127.0.0.1:${port} needs no certificate`,
    });
  } finally {
    await locked.stop();
  }
});

test('doctor: an examination changes nothing', async () => {
  const empty = await startTestNats({ syncAlways: false });
  const bare = await createTestDatabase({ isMigrated: false });
  try {
    const changed = { NATS_URL: empty.url, NATS_MONITOR_URL: empty.monitorUrl, DATABASE_URL: bare.url };
    for (const round of [1, 2]) {
      const findings = await examine({ ...source, ...changed }, deadlineMs);
      expect([round, about(findings, 'streams')]).toEqual([round, ['warn']]);
      expect(about(findings, 'schema')).toEqual(['fail']);
      expect(about(findings, 'secrets key')).toEqual(['warn']);
      expect(about(findings, 'durability')).toEqual(['warn']);
    }
  } finally {
    await empty.stop();
    await bare.drop();
  }
});

test('doctor: a message that was lost before a reader got it is named', async () => {
  const lost = { stream: streams.ingest, subject: 'ingest.0', seq: 61 };
  await onLog((connection) => keepLoss(connection, lost));
  const findings = await examine(source, deadlineMs);
  expect(findings.find((finding) => finding.about === 'lost messages')).toMatchObject({
    level: 'fail',
    detail: expect.stringMatching(/^sequences 61 of INGEST \(ingest\.0\) were missing/) as string,
  });
});

test('doctor: events that no resolver could read are counted, and the advice names the command that lists them', async () => {
  await onLog(async (connection) => {
    for (const origin of ['1', '2.0']) {
      const message = { subject: ingestDeadLetterSubject(0), payload: Buffer.from('no frame') };
      await publishWithRetry(connection, { ...message, msgId: `ingest.${origin}.0` }, { attemptsMax: 20 });
    }
  });
  const findings = await examine(source, deadlineMs);
  expect(findings.find((finding) => finding.about === 'unreadable events')).toMatchObject({
    level: 'warn',
    detail: expect.stringMatching(/^2 messages .* in INGEST_DEAD_LETTERS$/) as string,
    advice: expect.stringContaining('npm run dead-letters -- list ingest') as string,
  });
});

test('doctor: values that are still sealed with the previous key are counted, and the advice says what to do with that key', async () => {
  const next = randomBytes(32).toString('base64');
  const found = async (keys: Record<string, string>): Promise<Finding | undefined> =>
    (await examine({ ...source, ...keys }, deadlineMs)).find((finding) => finding.about === 'key rotation');
  const left =
    'not sealed with SECRETS_KEY: 0 destinations, 0 sources, 0 versions, 1 source keys, 0 erasures, 0 account keys';
  expect(await found({})).toBeUndefined();
  expect(await found({ SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: secretsKey })).toMatchObject({
    level: 'warn',
    detail: left,
    advice: expect.stringContaining('npm run reseal') as string,
  });
  expect(await found({ SECRETS_KEY_PREVIOUS: next })).toMatchObject({
    level: 'warn',
    advice: expect.stringContaining('remove SECRETS_KEY_PREVIOUS') as string,
  });
});

test('doctor: values that are sealed with another SOURCE_SECRETS_KEY are counted, and a wrong key fails', async () => {
  const [before, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const id = randomUUID();
  const sealed = createSourceSecretBox({ SOURCE_SECRETS_KEY: before })?.seal('s', signingSecretContext(accountId, id));
  await query(`insert into entities (id, account_id, collection, body) values ($1, $2, 'sources', $3)`, [
    id,
    accountId,
    JSON.stringify({ type: 'CallRail', signingSecret: sealed }),
  ]);
  const found = async (about: string, keys: Record<string, string>): Promise<Finding | undefined> =>
    (await examine({ ...source, ...keys }, deadlineMs)).find((finding) => finding.about === about);
  const rotating = { SOURCE_SECRETS_KEY: next, SOURCE_SECRETS_KEY_PREVIOUS: before };
  expect(await found('source key rotation', rotating)).toMatchObject({
    level: 'warn',
    detail:
      'not sealed with SOURCE_SECRETS_KEY: 0 destinations, 1 sources, 0 versions, 0 source keys, 0 erasures, 0 account keys',
  });
  expect(await found('source secrets key', { SOURCE_SECRETS_KEY: next })).toMatchObject({ level: 'fail' });
  expect(await found('source secrets key', { SOURCE_SECRETS_KEY: before })).toMatchObject({ level: 'ok' });
  await query('delete from entities where id = $1', [id]);
});

test('doctor: a changed stream, a missing stream, an old schema, a read-only database and a wrong key are found', async () => {
  await onLog(async ({ [client]: { jsm, nc } }) => {
    const { config } = await jsm.streams.info(streams.events);
    const changed = { ...config, discard: 'old', max_bytes: mebibyte };
    await nc.request(`$JS.API.STREAM.UPDATE.${streams.events}`, JSON.stringify(changed), { timeout: deadlineMs });
    await jsm.streams.delete(streams.deadLetters);
  });
  await query(`delete from migrations where name like '0004%'`);
  await query(`do $$ begin execute format(
    'alter database %I set default_transaction_read_only = on', current_database()); end $$`);
  const findings = await examine({ ...source, SECRETS_KEY: randomBytes(32).toString('base64') }, deadlineMs);
  const events = findings.filter((finding) => finding.about === 'stream EVENTS');
  expect(events.map(({ level }) => level).toSorted((a, b) => a.localeCompare(b))).toEqual(['fail', 'warn']);
  expect(events.find(({ level }) => level === 'fail')?.detail).toBe('discard is old, not new');
  expect(findings.find((finding) => finding.about === 'streams')?.detail).toBe('missing: DEAD_LETTERS');
  expect(findings.find((finding) => finding.about === 'schema')?.detail).toMatch(/^not applied: 0004-/);
  expect(about(findings, 'secrets key')).toEqual(['fail']);
  expect(about(findings, 'database writes')).toEqual(['fail']);
});

test('doctor: servers that cannot be reached are reported with their variables, within the deadline of each check', async () => {
  const gone = { ...source, NATS_URL: 'nats://127.0.0.1:1', NATS_MONITOR_URL: 'http://127.0.0.1:1' };
  const url = new URL(database.url);
  url.password = 'wrong';
  const findings = await examine({ ...gone, DATABASE_URL: url.href }, 2_000);
  expect(findings.find((finding) => finding.about === 'log')).toMatchObject({
    level: 'fail',
    detail: expect.stringMatching(/NATS_URL|no answer within/) as string,
  });
  expect(about(findings, 'durability')).toEqual(['warn']);
  expect(findings.find((finding) => finding.about === 'database')?.detail).toMatch(
    /DATABASE_PASSWORD|no answer within/,
  );
});

test('doctor: variables with which no service would start are reported, and the machine is checked all the same', async () => {
  const findings = await examine({ ...source, NATS_CERT: 'x', LOG_PARTITION: '4' }, deadlineMs);
  const problems = findings.filter((finding) => finding.about === 'environment').map(({ detail }) => detail);
  expect(problems.join('\n')).toMatch(/LOG_PARTITION is not known|NATS_KEY is missing/);
  expect(about(findings, 'Node')).toEqual(['ok']);
});
