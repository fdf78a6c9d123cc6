import { expect, test } from 'vitest';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { noSuspicion, quarantineReason } from '../worker/suspicion.ts';
import { retirePosition } from './lifecycle/owned-position.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ sink, rig } = opened);
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
});

const numbered = (count: number, prefix = 'e') => Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}` }));

test('skipped events: a destination that is down skips events that waited too long, records the reason, and gets later events', async () => {
  sink.answer(() => 503);
  const dispatcher = await rig.start();
  await rig.send(numbered(40, 'begun'));
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  for (let i = 0; i < 5; i += 1) await rig.send(numbered(10, `late${i}-`));
  const upTo = rig.frameSeqs.at(-1) ?? 0;
  await rig.send(numbered(3, 'kept'));
  const frames = async (): Promise<number> => await rig.unfinished();
  await dispatcher.passOver(upTo);
  await until('only what is kept waits in the log', async () => (await frames()) === 1);
  const missed = dispatcher.stats()['missed_events'] ?? 0;
  // Events that failed before the breaker opened are not skipped: they are retried.
  expect(missed).toBeGreaterThanOrEqual(50);
  expect(missed).toBeLessThan(90);
  const [range, another] = (await rig.health())?.skipped?.retention ?? [];
  expect(another).toBeUndefined();
  expect(range?.[2]).toBe(missed);
  expect(range?.[1]).toBeLessThanOrEqual(Date.now() + 1);
  sink.answer(() => 200);
  await rig.idle();
  await until('what was tried is there', () => sink.taken().length === 93 - missed);
  expect(sink.taken().filter((id) => id.startsWith('late'))).toEqual([]);
  expect(sink.taken().filter((id) => id.startsWith('kept'))).toHaveLength(3);
  expect(await rig.deadLetters()).toEqual([]);
});

test('skipped events: a long backlog is skipped without being read, and counted by its frames', async () => {
  sink.answer(() => 503);
  const dispatcher = await rig.start();
  await rig.send(numbered(40, 'begun'));
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  const framesBefore = dispatcher.stats()['frames'] ?? 0;
  for (let i = 0; i < 110; i += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => rig.send(numbered(2, `late${i}-${n}-`))));
  }
  const upTo = Math.max(...rig.frameSeqs);
  await rig.send(numbered(3, 'kept'));
  const { missed_events: before = 0 } = dispatcher.stats();
  const sinceMs = Date.now();
  await dispatcher.passOver(upTo);
  await until('only what is kept waits in the log', async () => (await rig.unfinished()) === 1);
  expect((dispatcher.stats()['frames'] ?? 0) - framesBefore).toBeLessThan(200);
  expect((dispatcher.stats()['missed_events'] ?? 0) - before).toBeGreaterThan(1_000);
  await until('it is shown', async () => ((await rig.health())?.skipped?.retention?.length ?? 0) > 0);
  const missed = (await rig.health())?.skipped?.retention ?? [];
  expect(missed[0]?.[0]).toBeLessThan(sinceMs);
  sink.answer(() => 200);
  await until('the rest is delivered', () => sink.taken().filter((id) => id.startsWith('kept')).length === 3);
  // Events that were sent as probes are not skipped: they are retried.
  expect(sink.taken().filter((id) => id.startsWith('late')).length).toBeLessThan(20);
});

test('skipped events: a dispatcher with suspected frames skips and records events too; a quarantined frame becomes a dead letter', async () => {
  sink.answer(({ body }) => (idsOf(body).includes('stuck') ? 'hang' : 200));
  await rig.send([{ id: 'stuck' }]);
  await rig.send([{ id: 'deadly' }]);
  for (let i = 0; i < 4; i += 1) await rig.send(numbered(10, `late${i}-`));
  const [first = 0, deadly = 0] = rig.frameSeqs;
  const upTo = rig.frameSeqs.at(-1) ?? 0;
  await rig.send(numbered(3, 'kept'));
  const log = { watched: { from: first, to: upTo }, quarantined: [{ seq: deadly }] };
  const dispatcher = await rig.start({
    suspicion: { ...noSuspicion, log },
    retryPolicyOf: quickRetries,
    sender: { ...defaultSettings.sender, headersTimeoutMs: 300 },
  });
  await until('the first hangs by itself', () => sink.requests.length === 1);
  await dispatcher.passOver(upTo);
  await until('the rest is delivered', () => sink.taken().length === 3);
  await rig.idle();
  expect(sink.taken()).toEqual(['kept0', 'kept1', 'kept2']);
  expect(await rig.deadLetters()).toMatchObject([{ reason: quarantineReason, event: { event: { id: 'deadly' } } }]);
  expect(dispatcher.stats()['missed_events']).toBe(40);
  await until('it is shown', async () => (await rig.health())?.skipped !== undefined);
  const [range, another] = (await rig.health())?.skipped?.retention ?? [];
  expect([range?.[2], another]).toEqual([40, undefined]);
  expect(range?.[0]).toBeLessThanOrEqual(range?.[1] ?? 0);
  // The event that was in flight is tried again: retries are not part of the skipped range.
  sink.answer(() => 200);
  await until('the first arrived', () => sink.taken().includes('stuck'));
});

test('delivery counts: each event is counted by name and stage, across restarts and several dispatchers', async () => {
  const isRefund = { condition: { property: 'event.event', operator: 'Is', value: 'Refund' } };
  const stop = { id: 'no-refunds', destinationId: rig.destinationId, priority: 1, isEnabled: true, logic: isRefund };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)],
    mappings: [{ ...stop, name: null, action: 'stop', eventName: null, mappings: [], others: 'omit' }],
  });
  sink.answer(({ body }) => (body.includes('"bad') ? 400 : body.includes('"late') ? 503 : 200));
  const first = await rig.start();
  const order = (id: string, name = 'Order') => ({ id, name, receivedAtMs: Date.now() });
  await rig.send([order('good'), order('bad'), order('late'), order('refund', 'Refund')]);
  await rig.idle();
  await first.stop(1_000);
  const atFirst = {
    'Order: log>delivered': 1,
    'Order: log>dead refused': 1,
    'Order: log>retrying': 1,
    'Refund: log>stopped mapping no-refunds': 1,
  };
  expect(await rig.moves('test')).toEqual(atFirst);
  sink.answer(() => 200);
  const second = await rig.start({ retryPolicyOf: quickRetries }, 'another');
  await rig.send([order('more'), order('test')]);
  await until('all arrived', () => sink.taken().length === 4);
  await second.stop(1_000);
  const third = await rig.start();
  await rig.send([order('last')]);
  await rig.idle();
  await third.stop(1_000);
  expect(await rig.moves('test', 'another')).toEqual({
    ...atFirst,
    'Order: log>delivered': 4,
    'Order: retrying>delivered': 1,
  });
  expect(await rig.moves('another')).toMatchObject({ 'Order: log>delivered': 2 });
  await retirePosition({ positions: rig.positionBucket, health: rig.healthBucket }, rig.destinationId);
  expect(await rig.moves('test', 'another')).toEqual({});
});
