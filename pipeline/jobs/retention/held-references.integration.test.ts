import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { dispatcherConsumer, eventsOfAccount } from '../../../shared/contracts/subjects.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { startScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { createDispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import type { DispatcherRig } from '../../workers/dispatch/testing/dispatcher-rig.ts';
import { startRetention } from './retention.ts';
import type { Retention } from './retention.ts';
import type { RetentionSettings } from './retention-settings.ts';

let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let retention: Retention | undefined;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  sink = await startScriptedDestination();
  rig = await createDispatcherRig(nats.url);
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
});
afterEach(async () => {
  await retention?.stop();
  await rig.close();
  await sink.close();
});

/** With these settings every stored event is too old for history. */
const settings: RetentionSettings = {
  everyMs: 50,
  historyMs: 1,
  waitingMs: 3_600_000,
  marks: { high: 0.8, low: 0.6 },
  quotas: { account: 0.5, all: 0.8 },
};

function start(own: Partial<RetentionSettings> = {}): void {
  retention = startRetention({
    connection: rig.pipelineConnection,
    settings: { ...settings, ...own },
    readers: {
      delivers: () => true,
      wanted: (accountId) => (accountId === rig.accountId ? [dispatcherConsumer(rig.destinationId)] : []),
      oldestReference: async () => (await rig.position())?.oldestReference,
      passOver: () => undefined,
    },
    deadLetters: { look: () => Promise.resolve() },
    logger: pino({ level: 'silent' }),
  });
}

const oldestSeq = async (): Promise<number | undefined> =>
  (await readNext(rig.connection, streams.events, eventsOfAccount(rig.accountId), 1))?.seq;

/** Sends three frames; the second then waits for a retry. Returns their sequences. */
async function sendThree(): Promise<readonly number[]> {
  sink.answer(({ body }) => (body.includes('"waits"') ? 503 : 200));
  const dispatcher = await rig.start();
  for (const id of ['before', 'waits', 'after']) await rig.send([{ id, receivedAtMs: Date.now() }]);
  const seqs = rig.frameSeqs.slice(-3);
  await until('it waits', async () => (await rig.position())?.oldestReference === seqs[1]);
  await until('the others are delivered', async () => (await rig.unfinished()) === 0);
  await dispatcher.stop(1_000);
  return seqs;
}

test('retention: an event that a retry refers to stays in the log until the retry is delivered', async () => {
  const [, waits] = await sendThree();
  start();
  await until('what is before it is gone', async () => (await oldestSeq()) === waits);
  sink.answer(() => 200);
  // The dispatcher of another process does not have the event in memory.
  const other = await createDispatcherRig(nats.url, rig);
  other.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  const second = await other.start();
  await until('it is delivered', () => sink.taken().includes('waits'));
  expect(second.stats()['missed_events']).toBe(0);
  await until('it may go', async () => (await oldestSeq()) !== waits);
  await other.close();
});

test('retention: for an account over its quota, events that its retries refer to are removed', async () => {
  const [, waits = 0] = await sendThree();
  start({ quotas: { account: 1e-9, all: 0.8 } });
  await until('it is gone', async () => (await oldestSeq()) !== waits);
  sink.answer(() => 200);
  const other = await createDispatcherRig(nats.url, rig);
  other.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  const second = await other.start();
  await until('it is recorded as skipped', () => second.stats()['missed_events'] === 1);
  await until('it is shown', async () => (await rig.health())?.skipped?.event_removed?.[0]?.[2] === 1);
  expect(sink.taken()).toEqual(['before', 'after']);
  await other.close();
});
