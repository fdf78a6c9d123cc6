import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats, startTestNatsCluster } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { numbered, openRig, startOn } from './testing/open-rig.ts';
import { idsOf } from '../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../shared/testing/scripted-destination.ts';
import { runAsProcess } from './testing/run-as-process.ts';
import { soonAgain } from './testing/pipeline-rig.ts';
import { until } from '../shared/testing/until.ts';

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

/** How many events arrived, for each destination once. */
const arrivedAt = ({ requests }: ScriptedDestination): number =>
  new Set(requests.map(({ path, body }) => path + idsOf(body).join())).size;

const open = (own: Readonly<Record<string, string>> = {}) => openRig(nats.url, database.url, own);

test('several pipelines: share: each actor runs once; an instance that starts takes over some actors, and returns them when it stops', async () => {
  const { rig, sink } = await open();
  const account = randomUUID();
  const destinations = Array.from({ length: 12 }, (_, i) => httpEntity(randomUUID(), `${sink.url}/${i}`));
  await rig.configure(account, { destinations });
  const one = await startOn(rig, 'one');
  const alone = one.supervisor.states.running;
  const two = await startOn(rig, 'two');
  const running = (): number => one.supervisor.states.running + two.supervisor.states.running;
  await until('they have shared', () => one.supervisor.states.running < alone && running() === alone);
  expect(two.supervisor.states.running).toBeGreaterThan(0);
  for (let frame = 0; frame < 10; frame += 1) await rig.accept(account, numbered(frame * 10, 10), frame);
  // Shows whether events are missing or came twice.
  await expect
    .poll(() => ({ arrived: arrivedAt(sink), sent: sink.taken().length }))
    .toEqual({ arrived: 1_200, sent: 1_200 });
  await two.stop();
  await until('the first one has them all', () => one.supervisor.states.running === alone);
  await rig.accept(account, [{ id: 'last' }]);
  await until('it arrived everywhere', () => sink.taken().filter((id) => id === 'last').length === 12);
  expect(sink.taken()).toHaveLength(1_212);
});

test('several pipelines: kill -9: when one of three instances is killed, its actors run elsewhere, and no event is lost', async () => {
  const { rig, sink } = await open(soonAgain);
  const account = randomUUID();
  sink.answer(() => ({ status: 200, delayMs: 2 }));
  const destinations = Array.from({ length: 6 }, (_, i) => httpEntity(randomUUID(), `${sink.url}/${i}`));
  await rig.configure(account, { destinations });
  const survivor = await startOn(rig, 'survivor');
  const alone = survivor.supervisor.states.running;
  const victim = runAsProcess(rig, 'victim');
  runAsProcess(rig, 'third');
  await until('the three know of each other', async () => (await rig.instances()).length === 3);
  await until('they have shared', () => survivor.supervisor.states.running < alone);
  for (let frame = 0; frame < 40; frame += 1) await rig.accept(account, numbered(frame * 25, 25), frame);
  await until('they are at work', () => sink.taken().length > 0);
  victim.kill('SIGKILL');
  await until('all arrived everywhere', () => arrivedAt(sink) === 6_000);
  await until('the victim is forgotten', async () => (await rig.instances()).length === 2);
  await rig.accept(account, [{ id: 'last' }]);
  await until('the last one arrived everywhere', () => sink.taken().filter((id) => id === 'last').length === 6);
  expect(new Set(sink.taken()).size).toBe(1_001);
});

test('several pipelines: cluster: when one of three replicating log servers is killed under load, no event is lost', async () => {
  const nodes = await startTestNatsCluster(3);
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  });
  const url = nodes.map((node) => node.url).join(',');
  const { rig, sink } = await openRig(url, database.url, { ...soonAgain, LOG_REPLICAS: '3' });
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  await startOn(rig);
  for (let frame = 0; frame < 40; frame += 1) {
    if (frame === 10) await nodes[1]?.kill();
    await rig.accept(account, numbered(frame * 25, 25), frame);
  }
  await until('all arrived', () => new Set(sink.taken()).size === 1_000, 60_000);
  expect(new Set(sink.taken()).size).toBe(1_000);
}, 120_000);
