import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { AccountConfig, SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import type { TestCollections } from '../../shared/testing/test-account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import type { Envelope } from '../../shared/contracts/events/envelope.ts';
import { decodeEnvelopes } from '../../shared/contracts/events/envelope.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { streams } from '../../shared/nats/streams/topology.ts';

/** A source with its keys, as a test publishes it. */
export type TestSource = {
  readonly token: string;
  readonly testToken?: string;
  readonly entity: SnapshotEntity;
};

export const testAccountId = 'account-1';

/** The log of a gateway under test: publishes configuration, and reads what the gateway stored. */
export type TestLog = {
  readonly connection: LogConnection;
  /** Publishes sources, and other collections if given. */
  publishSources(sources: readonly TestSource[], collections?: TestCollections): Promise<number>;
  /** Publishes like a control plane of an earlier version, which does not know GATEWAY_CONFIG. */
  publishAsEarlierVersion(sources: readonly TestSource[]): Promise<number>;
  /** Every event in the log, in the order of each partition. */
  envelopes(): Promise<Envelope[]>;
  /** The stored bytes of all frames. */
  rawFrames(): Promise<string>;
  /** The times of a source's last use that gateways have reported. */
  lastTriggeredAt(sourceId: string): Promise<number[]>;
  close(): Promise<void>;
};

export async function openTestLog(url: string, replicas = 1): Promise<TestLog> {
  const connection = await connectLog({ url, name: 'gateway-test' });
  const buckets = await openBuckets(connection, replicas);
  const { health } = buckets;
  // Cached frames: each is read once, however often a test reads the log.
  const read = new Map<number, { readonly data: Uint8Array; readonly envelopes: readonly Envelope[] }>();
  const frames = async () => {
    const { jsm } = connection[client];
    const { state } = await jsm.streams.info(streams.ingest);
    for (const seq of read.keys()) if (seq < state.first_seq || seq > state.last_seq) read.delete(seq);
    for (let seq = Math.max(state.first_seq, 1); seq <= state.last_seq; seq += 1) {
      if (read.has(seq)) continue;
      const { data } = await jsm.streams.getMessage(streams.ingest, { seq });
      read.set(seq, { data, envelopes: decodeEnvelopes(data) });
    }
    return [...read.values()];
  };
  return {
    connection,
    publishSources: (sources, collections) => putAccountConfig(buckets, document(sources, collections)),
    publishAsEarlierVersion: (sources) =>
      buckets.config.put(accountKey(testAccountId), Buffer.from(JSON.stringify(document(sources)))),
    async envelopes() {
      return (await frames()).flatMap(({ envelopes }) => envelopes);
    },
    async rawFrames() {
      return Buffer.concat((await frames()).map(({ data }) => data)).toString('utf8');
    },
    async lastTriggeredAt(sourceId) {
      const entries = await Promise.all((await health.keys(`source.${sourceId}.*`)).map((key) => health.get(key)));
      return entries.map((entry) => {
        const value = JSON.parse(Buffer.from(entry?.value ?? []).toString('utf8')) as { lastTriggeredAt: number };
        return value.lastTriggeredAt;
      });
    },
    close: () => connection.close(),
  };
}

function document(sources: readonly TestSource[], collections: TestCollections = {}): AccountConfig {
  const sourceKeys = sources.flatMap(({ token, testToken, entity }) => [
    { keyHash: hashSourceKey(token), sourceId: entity.id, test: false },
    ...(testToken === undefined ? [] : [{ keyHash: hashSourceKey(testToken), sourceId: entity.id, test: true }]),
  ]);
  return testAccountConfig(
    { ...collections, sources: sources.map(({ entity }) => entity) },
    { accountId: testAccountId, sourceKeys },
  );
}
