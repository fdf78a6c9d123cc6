import { randomBytes } from 'node:crypto';
import { headers } from 'nats';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';
import { encodeOAuthEntry, oauthEntryKey } from '../../contracts/config/oauth-entry.ts';
import { createSecretBox } from '../../contracts/config/secrets.ts';
import { createConfigSigner, createConfigTrust, newConfigSigningKey } from '../../contracts/config/signed-config.ts';
import type { ConfigSigner, ConfigTrust } from '../../contracts/config/signed-config.ts';
import { accountKey } from '../../contracts/subjects.ts';
import { createBucketTokenStore } from '../../egress/oauth/token-store.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { asLogUser } from '../../testing/as-log-user.ts';
import { makeTestLog } from '../../testing/make-test-log.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { followConfig } from '../buckets/config-feed.ts';
import { openBuckets } from '../buckets/open-buckets.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readLast } from '../messages/subject-log.ts';
import { buckets } from '../streams/topology.ts';
import { logUsers } from './log-users.ts';
import type { LogUserName } from './log-users.ts';

// A pipeline is in the account of the streams: JetStream writes its answers to any subject that a pipeline names. So it can
// write any bytes into CONFIG, and what keeps configuration what control planes published is their signature.

const stream = `KV_${buckets.config}`;
const accountId = 'account-1';
const subject = `$KV.${buckets.config}.${accountKey(accountId)}`;
const newSigner = (): ConfigSigner => {
  const signer = createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  if (signer === undefined) throw new Error('there is no key');
  return signer;
};
const ours = newSigner();
const strangers = newSigner();
const trust = (): ConfigTrust => createConfigTrust({ CONFIG_PUBLIC_KEYS: ours.publicKey });
const noTrust = createConfigTrust({});

const document = (versionNumber: number, id = accountId): Uint8Array =>
  encodeAccountConfig({
    format: 1,
    accountId: id,
    versionId: `v${versionNumber}`,
    versionNumber,
    publishedAt: '2026-11-27T00:00:00.000Z',
    sourceKeys: [],
    collections: {},
  });
const signedAtMs = 1_780_000_000_000;
const live = 7;
const forged = 666;

let server: NatsServer;
let operator: LogConnection;
let controlPlane: LogConnection;
let pipeline: LogConnection;
const connectAs = (name: LogUserName): Promise<LogConnection> => connectLog({ url: asLogUser(server.url, name), name });

beforeAll(async () => {
  server = await startTestNats();
  await makeTestLog(server, testTopology());
  operator = await connectLog({ url: server.url, name: 'operator' });
  [controlPlane, pipeline] = await Promise.all([connectAs('controlPlane'), connectAs('pipeline')]);
});
afterAll(async () => {
  await Promise.all([operator, controlPlane, pipeline].map((connection) => connection.close()));
  await server.stop();
});
beforeEach(async () => {
  const { config } = await openBuckets(controlPlane, 1);
  await config.put(accountKey(accountId), ours.sign(accountId, document(live), signedAtMs));
});

/** The versions that a gateway has in force, as it reads CONFIG. */
async function follow(as: LogUserName, trusted: ConfigTrust) {
  const connection = await connectAs(as);
  const { config } = await openBuckets(connection, 1);
  const versions = new Map<string, number | undefined>();
  let revision = 0;
  const feed = await followConfig<AccountConfig>(config, {
    trust: trusted,
    read: (found) => found,
    apply: (change) => void versions.set(change.accountId, change.config?.versionNumber),
    onRejected: (_account, rejected) => {
      revision = Math.max(revision, rejected);
    },
  });
  await expect.poll(() => feed.ready).toBe(true);
  return {
    version: () => versions.get(accountId),
    /** Once it has read all that CONFIG has. */
    async caughtUp() {
      const last = await readLast(operator, stream, subject);
      await expect.poll(() => Math.max(feed.revision, revision)).toBeGreaterThanOrEqual(last?.seq ?? 0);
    },
    async stop() {
      feed.stop();
      await connection.close();
    },
  };
}

/** Has the server answer a read of a stored message, whose bytes the reader has chosen, to a subject that it has chosen. */
async function storeByReply(bytes: Uint8Array, reply = subject, kvOperation?: string): Promise<void> {
  const { nc, js } = pipeline[client];
  const head = headers();
  if (kvOperation !== undefined) head.set('KV-Operation', kvOperation);
  const { seq } = await js.publish('events.evil.0', bytes, { headers: head });
  nc.publish('$JS.API.DIRECT.GET.EVENTS', JSON.stringify({ seq }), { reply });
  await nc.flush();
  await nc.request('$JS.API.STREAM.INFO.EVENTS', undefined, { timeout: 5_000 });
}

/** Has the server publish again what a stream stores, to a subject of CONFIG. */
async function storeByRepublish(bytes: Uint8Array): Promise<void> {
  const { jsm } = pipeline[client];
  const { config } = await jsm.streams.info('CANARY');
  await jsm.streams.update('CANARY', { ...config, republish: { src: 'canary.evil', dest: subject } });
  try {
    await operator[client].js.publish('canary.evil', bytes);
  } finally {
    await operator[client].jsm.streams.update('CANARY', { ...config, republish: undefined as never });
  }
}

type Attack = readonly [what: string, attack: () => Promise<void>];

const writes: readonly Attack[] = [
  ['a document without a signature, as the answer to a read', () => storeByReply(document(forged))],
  ['the same, republished by a stream', () => storeByRepublish(document(forged))],
  ['one signed by another key', () => storeByReply(strangers.sign(accountId, document(forged), signedAtMs + 1))],
  [
    'one of another account, signed for that one',
    () => storeByReply(ours.sign('account-2', document(forged, 'account-2'), signedAtMs + 1)),
  ],
  [
    'the live one with another version under its signature',
    () => {
      const bytes = Buffer.from(ours.sign(accountId, document(live), signedAtMs)).toString();
      return storeByReply(Buffer.from(bytes.replace(`"versionNumber":${live}`, `"versionNumber":${forged}`)));
    },
  ],
  ['a deletion', () => storeByReply(new Uint8Array(), subject, 'DEL')],
];

test.each(writes)('forged configuration: %s is stored, and no gateway or pipeline takes it', async (_what, attack) => {
  const readers = await Promise.all((['gateway', 'pipeline'] as const).map((name) => follow(name, trust())));
  const before = await readLast(operator, stream, subject);
  await attack();
  await expect.poll(async () => (await readLast(operator, stream, subject))?.seq).toBeGreaterThan(before?.seq ?? 0);
  for (const reader of readers) {
    await reader.caughtUp();
    expect(reader.version()).toBe(live);
    await reader.stop();
  }
  // One that starts then has nothing to go by, rather than what was forged.
  const started = await follow('gateway', trust());
  expect(started.version()).toBeUndefined();
  await started.stop();
});

test('forged configuration: without CONFIG_PUBLIC_KEYS a gateway takes it', async () => {
  const gateway = await follow('gateway', noTrust);
  await storeByReply(document(forged));
  await expect.poll(() => gateway.version()).toBe(forged);
  await gateway.stop();
});

test('forged configuration: an older one that was signed is refused by those that had a newer one', async () => {
  const gateway = await follow('gateway', trust());
  await storeByReply(ours.sign(accountId, document(live - 1), signedAtMs - 1));
  await gateway.caughtUp();
  expect(gateway.version()).toBe(live);
  // One that starts now has never seen a newer one: a control plane replaces it within half a minute.
  const started = await follow('gateway', trust());
  expect(started.version()).toBe(live - 1);
  const { config } = await openBuckets(controlPlane, 1);
  await config.put(accountKey(accountId), ours.sign(accountId, document(live), signedAtMs + 1));
  await expect.poll(() => started.version()).toBe(live);
  for (const reader of [gateway, started]) await reader.stop();
});

test('forged configuration: a purge takes nothing from those that have it', async () => {
  const gateway = await follow('gateway', trust());
  await storeByReply(new Uint8Array(), `$JS.API.STREAM.PURGE.${stream}`);
  await expect.poll(() => readLast(operator, stream, subject)).toBeUndefined();
  expect(gateway.version()).toBe(live);
  await gateway.stop();
});

test('forged configuration: no right of a pipeline, with CONFIG as its reply subject, changes what is in force', async () => {
  const gateway = await follow('gateway', trust());
  const { nc } = pipeline[client];
  const rights = logUsers.pipeline.rights?.publish ?? [];
  for (const right of rights) {
    nc.publish(right.replaceAll('*', 'mine').replace(/>$/, 'mine'), '{"seq":1}', { reply: subject });
  }
  await nc.flush();
  await nc.request('$JS.API.STREAM.INFO.INGEST', undefined, { timeout: 5_000 });
  await gateway.caughtUp();
  expect(gateway.version()).toBe(live);
  await gateway.stop();
});

test('forged tokens: without SECRETS_KEY nothing in TOKENS is a token, nor is one of another grant', async () => {
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const stranger = createSecretBox(randomBytes(32).toString('base64'));
  const { tokens } = await openBuckets(pipeline, 1);
  const store = createBucketTokenStore(() => tokens, box);
  const entry = { v: 1, token: { accessToken: 'evil', expiresAtMs: Date.now() + 60_000 } } as const;
  const [key, other] = [oauthEntryKey('aa'), oauthEntryKey('bb')];
  const forgeries = [
    Buffer.from(JSON.stringify(entry)),
    encodeOAuthEntry(entry, stranger, key),
    encodeOAuthEntry(entry, box, other),
  ];
  for (const bytes of forgeries) {
    const { revision } = await store.read('aa');
    await storeByReply(bytes, `$KV.${buckets.tokens}.${key}`);
    await expect.poll(async () => (await store.read('aa')).revision).toBeGreaterThan(revision);
    expect((await store.read('aa')).entry).toBeUndefined();
  }
  // What is sealed with the key counts: pipelines have it, as they ask for tokens themselves.
  const { revision } = await store.read('aa');
  expect(await store.write('aa', entry, revision)).toBeGreaterThan(revision);
  expect((await store.read('aa')).entry).toEqual(entry);
});

test('forged configuration: a pipeline cannot write to CONFIG itself, nor change the stream', async () => {
  const { nc, js, jsm } = pipeline[client];
  const refused = /permissions violation/i;
  await expect(js.publish(subject, document(forged), { timeout: 2_000 })).rejects.toThrow(refused);
  const { config } = await jsm.streams.info(stream);
  await expect(jsm.streams.update(stream, { ...config, max_bytes: 1 })).rejects.toThrow(refused);
  await expect(jsm.streams.delete(stream)).rejects.toThrow(refused);
  await expect(jsm.streams.deleteMessage(stream, 1)).rejects.toThrow(refused);
  // Subjects of one stream are no other's.
  const { config: health } = await jsm.streams.info(`KV_${buckets.health}`);
  const wider = { ...health, subjects: [...health.subjects, '$KV.CONFIG.>'] };
  await expect(jsm.streams.update(health.name, wider)).rejects.toThrow(/overlap/);
  expect(nc.isClosed()).toBe(false);
});
