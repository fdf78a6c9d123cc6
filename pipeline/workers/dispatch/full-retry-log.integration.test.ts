import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { deadLetterSubject, retrySubject } from '../../../shared/contracts/subjects.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ sink, rig } = opened);
  publishDestination();
});

function publishDestination(own: Readonly<Record<string, unknown>> = {}): void {
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, own)] });
}

/** Limits a stream to its present bytes plus 4 KiB, and fills these with another message. */
async function fill(stream: string, subject: string): Promise<void> {
  const { jsm } = rig.connection[client];
  const { bytes } = await readStreamState(rig.connection, stream);
  const { config } = await jsm.streams.info(stream);
  await jsm.streams.update(stream, { ...config, max_bytes: bytes + 4_096 });
  const options = { msgId: randomUUID(), timeoutMs: 5_000 };
  await publish(rig.connection, subject, randomBytes(3_800), options);
}

const fillRetries = () => fill(streams.retry, retrySubject(randomUUID(), 3));
const fillDeadLetters = () => fill(streams.deadLetters, deadLetterSubject(randomUUID()));
const settled = (): Promise<void> => until('every frame is settled', async () => (await rig.unfinished()) === 0);
const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}` }));

test('full retry log: an event that the log refuses becomes a dead letter with that reason, and later events are delivered', async () => {
  await fillRetries();
  sink.answer(({ body }) => (body.includes('"bad') ? 503 : 200));
  const dispatcher = await rig.start();
  await rig.send([{ id: 'bad0' }, { id: 'good0' }]);
  await rig.send([{ id: 'bad1', visitor: 'v' }, { id: 'good1', visitor: 'v' }]); // prettier-ignore
  await settled();
  const letters = await rig.deadLetters();
  // `good1` waits while `bad1` is on its way to the log, and is sent once `bad1` is a dead letter.
  expect(letters.map(({ event }) => event.event.id)).toEqual(expect.arrayContaining(['bad0', 'bad1']));
  expect(letters.map(({ reason }) => reason)).toEqual(
    letters.map(() => expect.stringContaining('no room in the retry log')),
  );
  expect(new Set([...sink.taken(), ...letters.map(({ event }) => event.event.id)])).toEqual(new Set(['good0', 'good1', 'bad0', 'bad1'])); // prettier-ignore
  expect(dispatcher.stats()).toMatchObject({ missed_events: 0, retries: 0, parked: expect.any(Number) });
  await rig.send([{ id: 'good2' }]);
  await until('what follows is delivered', () => sink.taken().includes('good2'));
});

test('full retry log: an event that the full dead letters refuse too is counted and shown as skipped, with its time', async () => {
  await fillRetries();
  await fillDeadLetters();
  const sinceMs = Date.now() - 1_000;
  sink.answer(() => 503);
  const dispatcher = await rig.start();
  await rig.send(numbered(3, 'bad'));
  await settled();
  expect(dispatcher.stats()['missed_events']).toBe(3);
  expect(await rig.deadLetters()).toEqual([]);
  const [range, another] = (await rig.health())?.skipped?.dead_letters_full ?? [];
  expect(another).toBeUndefined();
  expect(range?.[2]).toBe(3);
  expect(range?.[0]).toBeGreaterThanOrEqual(sinceMs);
  expect(range?.[1]).toBeLessThanOrEqual(Date.now() + 1);
});

test('full retry log: skipping acknowledges frames whose events were waiting for a write to the log', async () => {
  await fillRetries();
  sink.answer(() => 503);
  const dispatcher = await rig.start();
  for (let frame = 0; frame < 5; frame += 1) await rig.send(numbered(20, `e${frame}-`));
  await until('the log has refused some', () => (dispatcher.stats()['log_retries'] ?? 0) > 0);
  await dispatcher.passOver(rig.frameSeqs.at(-1) ?? 0);
  await settled();
  const { missed_events: skipped = 0, dead_letters: letters = 0 } = dispatcher.stats();
  expect(skipped + letters).toBe(100);
});

test('full retry log: the limit of a destination bounds its bytes in the log, even when retries fail again', async () => {
  publishDestination({ order: 'none' });
  let requests = 0;
  sink.answer(() => ((requests += 1) % 2 === 0 ? 200 : 503));
  const bytesMax = 96 * 1024;
  const dispatcher = await rig.start({ concurrency: 8, retryQuota: { bytesMax, account: 1, all: 0.9 } });
  let bytesSeen = 0;
  for (let frame = 0; frame < 30; frame += 1) {
    await rig.send(numbered(25, `f${frame}-`));
    bytesSeen = Math.max(bytesSeen, (await readStreamState(rig.connection, streams.retry)).bytes);
  }
  await until('its share is full', () => dispatcher.stats()['retry_share_full'] === 1);
  const bytes = async (): Promise<number> => (await readStreamState(rig.connection, streams.retry)).bytes;
  const untilMs = performance.now() + 5_000;
  await until('retries have come back', async () => {
    bytesSeen = Math.max(bytesSeen, await bytes());
    return performance.now() > untilMs;
  });
  expect(bytesSeen).toBeGreaterThan(bytesMax / 4);
  // The allowance of a tenth is for the heads of messages.
  expect(bytesSeen).toBeLessThan(bytesMax * 1.1);
});
