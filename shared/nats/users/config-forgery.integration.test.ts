import { randomBytes } from 'node:crypto';
import { headers } from 'nats';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { gatewayConfigOf } from '../../collections/gateway-collections.ts';
import { encodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';
import { gatewaySignee } from '../../contracts/config/gateway-config.ts';
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
import { openBuckets, openGatewayConfig, openPipelineBuckets } from '../buckets/open-buckets.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readLast } from '../messages/subject-log.ts';
import { buckets } from '../streams/topology.ts';
import { logUsers } from './log-users.ts';
import type { LogUserName } from './log-users.ts';

// A pipeline is in the account of the streams, so JetStream sends its answers to any subject that a pipeline names. A
// pipeline can therefore write any bytes into CONFIG; only the signature proves that a control plane published them.

const accountId = 'account-1';
const streamOf = (bucket: ConfigBucket): string => `KV_${buckets[bucket]}`;
const subjectOf = (bucket: ConfigBucket): string => `$KV.${buckets[bucket]}.${accountKey(accountId)}`;
type ConfigBucket = 'config' | 'gatewayConfig';
const bucketOf = { gateway: 'gatewayConfig', pipeline: 'config' } as const;
type Reader = keyof typeof bucketOf;
/** The name for which a document in the bucket is signed. */
const signee = (bucket: ConfigBucket, id = accountId): string => (bucket === 'config' ? id : gatewaySignee(id));
const newSigner = (): ConfigSigner => {
  const signer = createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  if (signer === undefined) throw new Error('there is no key');
  return signer;
};
const ours = newSigner();
const strangers = newSigner();
const trust = (): ConfigTrust => createConfigTrust({ CONFIG_PUBLIC_KEYS: ours.publicKey });
const noTrust = createConfigTrust({});

let revisions = 0;
const document = (bucket: ConfigBucket, versionNumber: number, id = accountId): Uint8Array => {
  const config: AccountConfig = {
    format: 1,
    accountId: id,
    versionId: `v${versionNumber}`,
    versionNumber,
    publishedAt: '2026-11-27T00:00:00.000Z',
    sourceKeys: [],
    collections: {},
  };
  revisions += 1;
  return bucket === 'config' ? encodeAccountConfig(config) : gatewayConfigOf(config, revisions);
};
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
/** Publishes a signed configuration, as a control plane does. */
async function publish(bucket: ConfigBucket, atMs = signedAtMs, id = accountId): Promise<void> {
  const opened = await openBuckets(controlPlane, 1);
  await opened[bucket].put(accountKey(id), ours.sign(signee(bucket, id), document(bucket, live, id), atMs));
}
beforeEach(async () => {
  await publish('config');
  await publish('gatewayConfig');
});

/** Follows a bucket as a gateway or a pipeline does; `version` returns the version in force. */
async function follow(as: Reader, trusted: ConfigTrust) {
  const connection = await connectAs(as);
  const bucket = bucketOf[as];
  const open = bucket === 'config' ? openPipelineBuckets(connection, 1) : openGatewayConfig(connection, 1);
  const opened = await open;
  const versions = new Map<string, number | undefined>();
  const feed = await followConfig<AccountConfig>('config' in opened ? opened.config : opened, {
    of: bucket,
    trust: trusted,
    read: (config) => config,
    apply: (change) => void versions.set(change.accountId, change.config?.versionNumber),
    onRejected: () => undefined,
  });
  await expect.poll(() => feed.ready).toBe(true);
  return {
    version: () => versions.get(accountId),
    /** Resolves once everything in the bucket has been read: writes the entry of another account and waits for it. */
    async caughtUp() {
      marks += 1;
      await publish(bucket, signedAtMs, `mark-${marks}`);
      await expect.poll(() => versions.has(`mark-${marks}`)).toBe(true);
    },
    async stop() {
      feed.stop();
      await connection.close();
    },
  };
}
let marks = 0;

/** Stores a message with these bytes, and requests it with `reply` as the subject of the answer. */
async function storeByReply(bytes: Uint8Array, reply: string, kvOperation?: string): Promise<void> {
  const { nc, js } = pipeline[client];
  const head = headers();
  if (kvOperation !== undefined) head.set('KV-Operation', kvOperation);
  const { seq } = await js.publish('events.evil.0', bytes, { headers: head });
  nc.publish('$JS.API.DIRECT.GET.EVENTS', JSON.stringify({ seq }), { reply });
  await nc.flush();
  await nc.request('$JS.API.STREAM.INFO.EVENTS', undefined, { timeout: 5_000 });
}

/** Has the server republish a message of a stream to a subject of the configuration. */
async function storeByRepublish(bytes: Uint8Array, subject: string): Promise<void> {
  const { jsm } = pipeline[client];
  const { config } = await jsm.streams.info('CANARY');
  await jsm.streams.update('CANARY', { ...config, republish: { src: 'canary.evil', dest: subject } });
  try {
    await operator[client].js.publish('canary.evil', bytes);
  } finally {
    await operator[client].jsm.streams.update('CANARY', { ...config, republish: undefined as never });
  }
}

type Attack = (bucket: ConfigBucket, subject: string) => Promise<void>;
const replacedVersion = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(Buffer.from(bytes).toString().replace(`"versionNumber":${live}`, `"versionNumber":${forged}`));

const attacks: Readonly<Record<string, Attack>> = {
  'a document without a signature, as the answer to a read': (bucket, subject) =>
    storeByReply(document(bucket, forged), subject),
  'the same, republished by a stream': (bucket, subject) => storeByRepublish(document(bucket, forged), subject),
  'one signed by another key': (bucket, subject) =>
    storeByReply(strangers.sign(signee(bucket), document(bucket, forged), signedAtMs + 1), subject),
  'one of another account, signed for that one': (bucket, subject) =>
    storeByReply(ours.sign(signee(bucket, 'b'), document(bucket, forged, 'b'), signedAtMs + 1), subject),
  'one that is signed for the other bucket': (bucket, subject) => {
    const other = bucket === 'config' ? 'gatewayConfig' : 'config';
    return storeByReply(ours.sign(signee(other), document(other, forged), signedAtMs + 1), subject);
  },
  'the live one with another version under its signature': (bucket, subject) =>
    storeByReply(replacedVersion(ours.sign(signee(bucket), document(bucket, live), signedAtMs)), subject),
  'a deletion': (_bucket, subject) => storeByReply(new Uint8Array(), subject, 'DEL'),
};
const readers = Object.keys(bucketOf) as Reader[];
const cases = readers.flatMap((reader) => Object.entries(attacks).map(([what, attack]) => ({ reader, what, attack })));

test.each(cases)('forged configuration: $what is stored, and no $reader uses it', async ({ reader: name, attack }) => {
  const bucket = bucketOf[name];
  const [stream, subject] = [streamOf(bucket), subjectOf(bucket)];
  const reader = await follow(name, trust());
  const before = await readLast(operator, stream, subject);
  await attack(bucket, subject);
  await expect.poll(async () => (await readLast(operator, stream, subject))?.seq).toBeGreaterThan(before?.seq ?? 0);
  await reader.caughtUp();
  expect(reader.version()).toBe(live);
  await reader.stop();
  // A reader that starts now finds only the forged configuration, and runs none.
  const started = await follow(name, trust());
  expect(started.version()).toBeUndefined();
  await started.stop();
});

test.each(readers)('forged configuration: without CONFIG_PUBLIC_KEYS a %s uses it', async (name) => {
  const reader = await follow(name, noTrust);
  const bucket = bucketOf[name];
  await storeByReply(document(bucket, forged), subjectOf(bucket));
  await expect.poll(() => reader.version()).toBe(forged);
  await reader.stop();
});

test.each(readers)(
  'forged configuration: an older signed one is refused by a %s that had a newer one',
  async (name) => {
    const bucket = bucketOf[name];
    const reader = await follow(name, trust());
    const older = ours.sign(signee(bucket), document(bucket, live - 1), signedAtMs - 1);
    await storeByReply(older, subjectOf(bucket));
    await reader.caughtUp();
    expect(reader.version()).toBe(live);
    // A reader that starts now has never seen the newer version: it runs the older one until a control plane replaces
    // it, within half a minute.
    const started = await follow(name, trust());
    expect(started.version()).toBe(live - 1);
    await publish(bucket, signedAtMs + 1);
    await expect.poll(() => started.version()).toBe(live);
    for (const one of [reader, started]) await one.stop();
  },
);

test('forged configuration: a reader keeps its configuration when the bucket is purged', async () => {
  const gateway = await follow('gateway', trust());
  const stream = streamOf('gatewayConfig');
  await storeByReply(new Uint8Array(), `$JS.API.STREAM.PURGE.${stream}`);
  await expect.poll(() => readLast(operator, stream, subjectOf('gatewayConfig'))).toBeUndefined();
  expect(gateway.version()).toBe(live);
  await gateway.stop();
});

test.each(readers)(
  'forged configuration: no right of a pipeline, with a reply subject, changes what a %s runs',
  async (name) => {
    const reader = await follow(name, trust());
    const { nc } = pipeline[client];
    const rights = logUsers.pipeline.rights?.publish ?? [];
    for (const right of rights) {
      const reply = subjectOf(bucketOf[name]);
      nc.publish(right.replaceAll('*', 'mine').replace(/>$/, 'mine'), '{"seq":1}', { reply });
    }
    await nc.flush();
    await nc.request('$JS.API.STREAM.INFO.INGEST', undefined, { timeout: 5_000 });
    await reader.caughtUp();
    expect(reader.version()).toBe(live);
    await reader.stop();
  },
);

test('forged tokens: an entry of TOKENS is refused if it is not sealed with SECRETS_KEY, or is sealed for another grant', async () => {
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
  // An entry sealed with the key is accepted: pipelines have the key, as they request tokens themselves.
  const { revision } = await store.read('aa');
  expect(await store.write('account', 'aa', entry, revision)).toBeGreaterThan(revision);
  expect((await store.read('aa')).entry).toEqual(entry);
});

const signedBuckets = ['config', 'gatewayConfig'] as const;
test.each(signedBuckets)(
  'forged configuration: a pipeline cannot write to %s itself, nor change the stream',
  async (bucket) => {
    const { nc, js, jsm } = pipeline[client];
    const stream = streamOf(bucket);
    const refused = /permissions violation/i;
    await expect(js.publish(subjectOf(bucket), document(bucket, forged), { timeout: 2_000 })).rejects.toThrow(refused);
    const { config } = await jsm.streams.info(stream);
    await expect(jsm.streams.update(stream, { ...config, max_bytes: 1 })).rejects.toThrow(refused);
    await expect(jsm.streams.delete(stream)).rejects.toThrow(refused);
    await expect(jsm.streams.deleteMessage(stream, 1)).rejects.toThrow(refused);
    // Two streams cannot have a subject in common.
    const { config: health } = await jsm.streams.info(`KV_${buckets.health}`);
    const wider = { ...health, subjects: [...health.subjects, `$KV.${buckets[bucket]}.>`] };
    await expect(jsm.streams.update(health.name, wider)).rejects.toThrow(/overlap/);
    expect(nc.isClosed()).toBe(false);
  },
);
