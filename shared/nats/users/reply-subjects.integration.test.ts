import { AckPolicy, DeliverPolicy } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { asLogUser } from '../../testing/as-log-user.ts';
import { makeTestLog } from '../../testing/make-test-log.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readLast } from '../messages/subject-log.ts';
import { readStreamState } from '../streams/stream-progress.ts';
import { buckets, streams } from '../streams/topology.ts';
import { logAccount, logUsers } from './log-users.ts';
import type { LogUserName } from './log-users.ts';

// JetStream answers to any subject that a request names, with rights of its own: an answer on a stream's subject is
// stored there, and an answer on a subject of the API is a request with the server's rights.

let server: NatsServer;
let operator: LogConnection;

beforeAll(async () => {
  server = await startTestNats();
  await makeTestLog(server, testTopology());
  operator = await connectLog({ url: server.url, name: 'operator' });
});
afterAll(async () => {
  await operator.close();
  await server.stop();
});

/** A subject of each stream. A compromised service would request answers to these subjects. */
const targets: readonly (readonly [stream: string, subject: string])[] = [
  [streams.ingest, 'ingest.evil'],
  [streams.events, 'events.evil.0'],
  [streams.retry, 'retry.evil.0'],
  [streams.deadLetters, 'dead.evil'],
  [streams.ingestDeadLetters, 'dead-ingest.evil'],
  [streams.deduplication, 'deduplication.evil'],
  [`KV_${buckets.config}`, `$KV.${buckets.config}.account.evil`],
  [`KV_${buckets.gatewayConfig}`, `$KV.${buckets.gatewayConfig}.account.evil`],
  [`KV_${buckets.tokens}`, `$KV.${buckets.tokens}.evil`],
  [`KV_${buckets.replays}`, `$KV.${buckets.replays}.evil`],
  [`KV_${buckets.health}`, `$KV.${buckets.health}.evil`],
  [`KV_${buckets.leases}`, `$KV.${buckets.leases}.evil`],
];

/** Whether a user's right covers a subject, so that the user may publish there even without a reply subject. */
function covers(right: string, subject: string): boolean {
  const [wanted, found] = [right.split('.'), subject.split('.')];
  const end = wanted.indexOf('>');
  if (end !== -1) return found.length > end && covers(wanted.slice(0, end).join('.'), found.slice(0, end).join('.'));
  return wanted.length === found.length && wanted.every((token, at) => token === '*' || token === found[at]);
}

const guests = (Object.keys(logUsers) as LogUserName[]).filter((name) => logUsers[name].account !== logAccount);
const rightsOf = (name: LogUserName): readonly string[] => logUsers[name].rights?.publish ?? [];
const connectAs = (name: LogUserName): Promise<LogConnection> => connectLog({ url: asLogUser(server.url, name), name });

test('reply subjects: gateway, control plane and doctor are in accounts of their own', () => {
  expect(guests).toEqual(['gateway', 'controlPlane', 'doctor']);
});

test.each(guests)('reply subjects: no answer to %s is stored, whatever it asks for', async (name) => {
  const connection = await connectAs(name);
  const { nc } = connection[client];
  const foreign = targets.filter(([, subject]) => !rightsOf(name).some((right) => covers(right, subject)));
  expect(foreign.length).toBeGreaterThan(5);
  for (const right of rightsOf(name)) {
    const subject = right.replaceAll('*', 'mine').replace(/>$/, 'mine');
    for (const [, reply] of foreign) nc.publish(subject, '{"seq":1}', { reply });
  }
  await nc.flush();
  // The server answers this request after all the others.
  await nc.request('$JS.API.STREAM.INFO.INGEST', undefined, { timeout: 5_000 });
  for (const [stream, subject] of foreign) {
    expect({ subject, stored: await readLast(operator, stream, subject) }).toEqual({ subject, stored: undefined });
  }
  await connection.close();
});

test.each(guests)('reply subjects: no answer to %s is a request of the server', async (name) => {
  const nothing = await operator[client].js.publish('ingest.0', new Uint8Array());
  await operator[client].js.publish('canary.one', 'here');
  const connection = await connectAs(name);
  const { nc } = connection[client];
  const asks = rightsOf(name).filter((right) => /^\$JS\.API\.(DIRECT\.GET|STREAM\.MSG\.GET)\.[A-Z_]+$/.test(right));
  for (const subject of [...asks, 'canary.mine', '$JS.API.INFO']) {
    for (const verb of ['PURGE', 'DELETE']) {
      nc.publish(subject, JSON.stringify({ seq: nothing.seq }), { reply: `$JS.API.STREAM.${verb}.${streams.canary}` });
    }
  }
  await nc.flush();
  await nc.request('$JS.API.STREAM.INFO.INGEST', undefined, { timeout: 5_000 });
  expect((await readLast(operator, streams.canary, 'canary.one'))?.seq).toBeGreaterThan(0);
  await connection.close();
});

test.each(guests)('reply subjects: no consumer of %s is sent to a stream', async (name) => {
  await operator[client].js.publish(`$KV.${buckets.config}.account.one`, '{}');
  await operator[client].js.publish(`$KV.${buckets.gatewayConfig}.account.one`, '{}');
  await operator[client].js.publish(`$KV.${buckets.leases}.one`, '{}');
  await operator[client].js.publish('events.one.0', 'x');
  const before = await Promise.all(targets.map(([stream]) => readStreamState(operator, stream)));
  const connection = await connectAs(name);
  const { nc, createInbox } = connection[client];
  const created = rightsOf(name).flatMap((right) => /^\$JS\.API\.CONSUMER\.CREATE\.([A-Z_]+)$/.exec(right)?.[1] ?? []);
  const create = (stream: string, deliver_subject: string): Promise<unknown> =>
    nc.request(
      `$JS.API.CONSUMER.CREATE.${stream}`,
      JSON.stringify({
        stream_name: stream,
        config: { deliver_subject, ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All },
      }),
      { timeout: 5_000 },
    );
  for (const stream of created) {
    for (const [, subject] of targets) await create(stream, subject);
    // A consumer with a subscriber delivers at once.
    const inbox = createInbox();
    const subscription = nc.subscribe(inbox, { max: 1 });
    await create(stream, inbox);
    const { messages } = await readStreamState(operator, stream);
    if (messages > 0) for await (const message of subscription) expect(message.subject).toBeDefined();
  }
  const after = await Promise.all(targets.map(([stream]) => readStreamState(operator, stream)));
  expect(after.map(({ lastSeq }) => lastSeq)).toEqual(before.map(({ lastSeq }) => lastSeq));
  await connection.close();
});
