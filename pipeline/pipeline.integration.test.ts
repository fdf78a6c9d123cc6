import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { encodeResolved } from '../shared/contracts/events/resolved-event.ts';
import { dispatcherConsumer, eventsSubject } from '../shared/contracts/subjects.ts';
import { sampleEvent } from '../shared/destinations/sdk/sample-event.ts';
import { publishWithRetry } from '../shared/nats/publish/publisher.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createNatsFolder, createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { numbered, openRig, startOn } from './testing/open-rig.ts';
import { runAsProcess } from './testing/run-as-process.ts';
import { soonAgain } from './testing/pipeline-rig.ts';
import { until } from '../shared/testing/until.ts';
import { version } from '../shared/runtime/version.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

const open = (own: Readonly<Record<string, string>> = {}) => openRig(nats.url, database.url, own);
const twoThreads = { PIPELINE_THREADS: '2' };

test('pipeline: configuration: destinations come, change and go while it runs', async () => {
  const { rig, sink } = await open();
  const account = randomUUID();
  const [one, two] = [randomUUID(), randomUUID()];
  await startOn(rig);
  const first = await rig.configure(account, { destinations: [httpEntity(one, `${sink.url}/one`)] });
  await until('the first revision runs', async () => (await rig.reported()) >= first);
  await rig.accept(account, [{ id: 'a' }]);
  await until('a arrived', () => sink.taken('/one').join() === 'a');

  const second = await rig.configure(account, {
    destinations: [httpEntity(one, `${sink.url}/one`, { status: 'Disabled' }), httpEntity(two, `${sink.url}/two`)],
  });
  await until('the second revision runs', async () => (await rig.reported()) >= second);
  await rig.accept(account, [{ id: 'b' }]);
  await until('b arrived', () => sink.taken('/two').join() === 'b');
  expect(sink.taken('/one')).toEqual(['a']);

  await rig.configure(account, { destinations: [httpEntity(two, `${sink.url}/two`)] });
  await until('the consumer of one is gone', async () => !(await rig.consumers()).includes(dispatcherConsumer(one)));
  expect(await rig.consumers()).toContain(dispatcherConsumer(two));
});

test('pipeline: first event: an event accepted before the pipeline’s first start is delivered', async () => {
  const { rig, sink } = await open();
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  await rig.accept(account, [{ id: 'first' }]);
  await startOn(rig);
  await until('it arrived', () => sink.taken().join() === 'first');
  expect(sink.requests).toHaveLength(1);
});

test('pipeline: publication: if the clock of the control plane is ahead, a new destination still gets every later event', async () => {
  const { rig, sink } = await open();
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] }, Date.now() + 3_600_000);
  // Another pipeline resolves an event before the destination's dispatcher starts.
  const line = encodeResolved(sampleEvent({ id: 'first', account_id: account }));
  const message = { subject: eventsSubject(account, 0), payload: Buffer.from(`${line}\n`), msgId: 'first' };
  await publishWithRetry(rig.connection, message, {});
  await startOn(rig);
  await until('it arrived', () => sink.taken().join() === 'first');
  expect(sink.requests).toHaveLength(1);
});

test('pipeline: thread: when a thread dies, no event is lost and its actors run again', async () => {
  const { rig, sink } = await open({ ...soonAgain, ...twoThreads });
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  const { pool, supervisor } = await startOn(rig);
  await rig.accept(account, numbered(0, 20));
  await until('the first arrived', () => new Set(sink.taken()).size === 20);
  for (const thread of pool.threads.slice(0, 1)) await thread.terminate();
  await rig.accept(account, numbered(20, 20), 1);
  await rig.accept(account, numbered(40, 20), 0);
  await until('every actor runs again', () => {
    const { running, waiting, starting } = supervisor.states;
    return running > 0 && waiting + starting === 0;
  });
  await until('all arrived', () => new Set(sink.taken()).size === 60);
  await until('both threads are there', () => supervisor.threadsReady === 2);
  expect(supervisor.states.quarantined).toBe(0);
});

test('pipeline: isolation: a destination that hangs does not delay other destinations', async () => {
  const { rig, sink } = await open();
  const account = randomUUID();
  sink.answer(({ path }) => (path === '/dead' ? 'hang' : 200));
  await rig.configure(account, {
    destinations: [httpEntity(randomUUID(), `${sink.url}/dead`), httpEntity(randomUUID(), `${sink.url}/live`)],
  });
  await startOn(rig);
  for (let frame = 0; frame < 20; frame += 1) await rig.accept(account, numbered(frame * 10, 10), frame);
  await until('all arrived at the one that lives', () => sink.taken('/live').length === 200);
  expect(sink.taken('/dead')).toEqual([]);
});

test('pipeline: metrics: deliveries are counted by destination, and the counts survive the death of a thread', async () => {
  const { rig, sink } = await open(twoThreads);
  const [account, destination] = [randomUUID(), randomUUID()];
  await rig.configure(account, { destinations: [httpEntity(destination, sink.url)] });
  const { metricsPort, pool } = await startOn(rig);
  await rig.accept(account, numbered(0, 7));
  const metric = `sluice_dispatcher_delivered_total{destination_id="${destination}"} 7`;
  const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  await until('deliveries are counted', async () => (await scrape()).includes(metric));
  for (const thread of pool.threads) await thread.terminate();
  await until('the deaths are counted', async () => (await scrape()).includes('sluice_thread_deaths_total 2'));
  expect(await scrape()).toContain(metric);
});

test('pipeline: kill -9: after a restart every accepted event is delivered, is in the view, and is counted in health', async () => {
  // The view of recent events accepts every event; some events may not have reached it when the process is killed.
  const view = { RECENT_EVENTS_PER_S_MAX: '100000' };
  const { rig, sink } = await open({ ...soonAgain, ...twoThreads, ...view });
  const [account, destination] = [randomUUID(), randomUUID()];
  // The destination hangs after 300 events, so the process is killed in the middle of its work, however fast the
  // process is.
  sink.answer(() => (sink.taken().length < 300 ? { status: 200, delayMs: 2 } : 'hang'));
  await rig.configure(account, { destinations: [httpEntity(destination, sink.url)] });
  const process = runAsProcess(rig);
  for (let frame = 0; frame < 40; frame += 1) await rig.accept(account, numbered(frame * 25, 25), frame);
  await until('it is at work', () => sink.taken().length >= 300);
  process.kill('SIGKILL');
  await process.ended;
  sink.answer(() => ({ status: 200, delayMs: 2 }));
  const { metricsPort } = await startOn(rig);
  await until('all arrived', () => new Set(sink.taken()).size === 1_000);
  const succeeded = async (): Promise<number> => (await rig.counted(destination))[0] ?? 0;
  await until('health has counted each of them', async () => (await succeeded()) >= 1_000);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  await until('the view has each of them', async () => {
    const { rows } = await client.query('select id from recent_events where account_id = $1', [account]);
    return rows.length === 1_000;
  });
  expect(await (await fetch(`http://127.0.0.1:${metricsPort}/livez`)).json()).toEqual({ live: true, version });
});

test('pipeline: SIGTERM: exits with code 0 and hands its work over at once', async () => {
  const { rig, sink } = await open({ DISPATCH_ACK_WAIT_MS: '300000', RESOLVER_ACK_WAIT_MS: '300000' });
  const account = randomUUID();
  sink.answer(() => ({ status: 200, delayMs: 2 }));
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  const process = runAsProcess(rig);
  for (let frame = 0; frame < 20; frame += 1) await rig.accept(account, numbered(frame * 25, 25), frame);
  await until('it is at work', () => sink.taken().length > 50);
  process.kill('SIGTERM');
  const { code, log } = await process.ended;
  expect({ code, log }).toEqual({ code: 0, log });
  await startOn(rig);
  await until('all arrived', () => new Set(sink.taken()).size === 500);
  expect(sink.taken()).toHaveLength(500);
});

test('pipeline: log restart: after a log server is killed and restarted, no event is lost, and later configurations apply', async () => {
  const storeDir = await createNatsFolder();
  const own = await startTestNats({ storeDir });
  let again: NatsServer | undefined;
  onTestFinished(() => again?.stop());
  const { rig, sink } = await openRig(own.url, database.url, soonAgain);
  const [account, one, two] = [randomUUID(), randomUUID(), randomUUID()];
  await rig.configure(account, { destinations: [httpEntity(one, `${sink.url}/one`)] });
  await startOn(rig);
  await rig.accept(account, numbered(0, 10));
  await until('the first arrived', () => new Set(sink.taken('/one')).size === 10);
  await own.kill();
  again = await startTestNats({ storeDir, port: own.port });
  await until('we are connected', () => rig.connection.connected);
  const revision = await rig.configure(account, {
    destinations: [httpEntity(one, `${sink.url}/one`), httpEntity(two, `${sink.url}/two`)],
  });
  await until('the new revision runs', async () => (await rig.reported()) >= revision);
  await rig.accept(account, numbered(10, 10));
  const arrived = (path: string): number => new Set(sink.taken(path)).size;
  await until('all arrived', () => arrived('/two') === 10 && arrived('/one') === 20);
  expect(new Set(sink.taken('/two'))).toEqual(new Set(numbered(10, 10).map(({ id }) => id)));
});

test('pipeline: SIGTERM without a log: ends within its deadline', async () => {
  const own = await startTestNats();
  const { rig, sink } = await openRig(own.url, database.url, { SHUTDOWN_DEADLINE_MS: '20000' });
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  const process = runAsProcess(rig);
  await rig.accept(account, [{ id: 'a' }]);
  await until('it is at work', () => sink.taken().length === 1);
  await own.kill();
  process.kill('SIGTERM');
  const { code, log } = await process.ended;
  expect({ code, log }).toEqual({ code: 0, log });
});
