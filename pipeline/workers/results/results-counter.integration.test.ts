import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { resultsConsumer } from '../../../shared/contracts/subjects.ts';
import { impressionEvent } from '../../../shared/experiments/impression-event.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { listConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { resolvedEvent } from '../recent/testing/resolved.ts';
import { createResultsRig, experimentId, metric } from './testing/results-rig.ts';

let rig: Awaited<ReturnType<typeof createResultsRig>>;
beforeAll(async () => {
  rig = await createResultsRig();
  startMs = Date.now();
});
afterEach(() => rig.stopCounters());
afterAll(() => rig.close());

const slow = { timeout: 30_000 };
let startMs = 0;

function of(accountId: string) {
  const event = (visitorId: string, name: string, atS: number, properties: object, test = false): ResolvedEvent =>
    resolvedEvent(accountId, {
      event: name,
      time: startMs + atS * 1_000,
      test,
      event_properties: { ...properties },
      visitor: { id: visitorId, custom_properties: {} },
    });
  return {
    shown: (visitorId: string, variantId: string, atS: number, more: object = {}, test = false) =>
      event(visitorId, impressionEvent, atS, { experiment_id: experimentId, variant_id: variantId, ...more }, test),
    bought: (visitorId: string, atS: number, test = false) => event(visitorId, metric, atS, {}, test),
    other: (visitorId: string) => event(visitorId, 'Viewed', 0, { nested: { event: metric } }),
  };
}

test('results: each visitor counts once, and only a conversion after the first exposure counts', async () => {
  const account = randomUUID();
  const { shown, bought, other } = of(account);
  for (const id of ['twice', 'never', 'early', 'late']) await rig.assign(account, id, 'a');
  await rig.assign(account, 'other', 'b');
  await rig.start(account);
  await rig.send(account, [
    shown('twice', 'a', 1),
    shown('twice', 'a', 2),
    bought('twice', 3),
    bought('twice', 4),
    shown('never', 'a', 1),
    other('never'),
    bought('early', 0),
    shown('early', 'a', 1),
    shown('other', 'b', 5),
  ]);
  // Another partition may be ahead: its events arrive first although they happened later.
  await rig.send(account, [bought('late', 9), bought('stranger', 9)], 1);
  await rig.send(account, [shown('late', 'a', 8), shown('end', 'b', 9)]);
  await expect
    .poll(() => rig.results(account), slow)
    .toEqual([
      { variantId: 'a', visitors: 4, conversions: 2 },
      { variantId: 'b', visitors: 2, conversions: 0 },
    ]);
});

test('order of effects: a frame is acknowledged only after its results are stored', async () => {
  const account = randomUUID();
  await rig.assign(account, 'v', 'a');
  const holder = await rig.pool.connect();
  await holder.query('begin; lock table experiment_visitors in access exclusive mode');
  await rig.start(account);
  await rig.send(account, [of(account).shown('v', 'a', 1)]);
  const isWaiting = async (): Promise<boolean | undefined> => {
    const { rows } = await rig.pool.query<{ waits: boolean }>(
      "select exists (select from pg_locks where relation = 'experiment_visitors'::regclass and not granted) as waits",
    );
    return rows[0]?.waits;
  };
  await expect.poll(isWaiting, slow).toBe(true);
  await rig.connection[client].nc.flush();
  const own = async () => {
    const consumers = await listConsumerProgress(rig.connection, streams.events);
    return consumers.find(({ name }) => name === resultsConsumer(account));
  };
  expect(await own()).toMatchObject({ unacknowledged: 1 });
  await holder.query('commit');
  holder.release();
  await expect.poll(own, slow).toMatchObject({ unacknowledged: 0 });
  expect(await rig.results(account)).toEqual([{ variantId: 'a', visitors: 1, conversions: 0 }]);
});

test('results: test events, rollouts and exposures without a valid experiment do not count', async () => {
  const account = randomUUID();
  const { shown, bought } = of(account);
  await rig.assign(account, 'tester', 'a');
  await rig.start(account);
  await rig.send(account, [
    shown('tester', 'a', 1, {}, true),
    bought('tester', 2, true),
    shown('all', 'a', 1, { is_rollout: true }),
    shown('nonsense', 'a b', 1),
    shown('last', 'b', 1),
  ]);
  await expect.poll(() => rig.results(account), slow).toEqual([{ variantId: 'b', visitors: 1, conversions: 0 }]);
});

test('results: the same events again, in another order and with a new counter, do not change the results', async () => {
  const account = randomUUID();
  const { shown, bought } = of(account);
  const ids = Array.from({ length: 40 }, (_, index) => `v-${index}`);
  for (const id of ids) await rig.assign(account, id, 'a');
  const events = ids.flatMap((id, index) => [
    shown(id, 'a', 2),
    shown(id, 'b', 1),
    ...(index % 4 === 0 ? [bought(id, 0)] : []),
    ...(index % 2 === 0 ? [bought(id, 3)] : []),
  ]);
  for (const order of [events, events.toReversed(), events.toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1))]) {
    // The new counter takes over from the previous one in the middle of its work.
    await rig.start(account);
    for (let start = 0; start < order.length; start += 5) {
      await rig.send(account, order.slice(start, start + 5), start % 2);
    }
  }
  await rig.send(account, [shown('end', 'c', 1)]);
  await expect
    .poll(() => rig.results(account), slow)
    .toEqual([
      { variantId: 'b', visitors: 40, conversions: 20 },
      { variantId: 'c', visitors: 1, conversions: 0 },
    ]);
});

test('results: merged visitors count once, with their first variant', async () => {
  const account = randomUUID();
  const { shown, bought } = of(account);
  await rig.assign(account, 'phone', 'b');
  await rig.start(account);
  await rig.send(account, [shown('laptop', 'a', 5), shown('phone', 'b', 1)]);
  await expect.poll(async () => (await rig.results(account)).length, slow).toBe(2);
  await rig.addVisitor(account, 'laptop');
  await rig.addVisitor(account, 'phone', { mergedInto: 'laptop' });
  await rig.send(account, [bought('laptop', 3)]);
  await expect.poll(() => rig.results(account), slow).toEqual([{ variantId: 'b', visitors: 1, conversions: 1 }]);
});

test('results: a chain of merged visitors counts once, with the conversion of the last', async () => {
  const account = randomUUID();
  const { shown, bought } = of(account);
  await rig.assign(account, 'first', 'b');
  await rig.addVisitor(account, 'last');
  await rig.addVisitor(account, 'second', { mergedInto: 'last' });
  await rig.addVisitor(account, 'first', { mergedInto: 'second' });
  await rig.start(account);
  // A visitor whose exposures name the first and second id, and who is now known by the last.
  await rig.send(account, [shown('first', 'b', 1), shown('second', 'a', 2), bought('last', 3), shown('other', 'a', 1)]);
  await expect
    .poll(() => rig.results(account), slow)
    .toEqual([
      { variantId: 'a', visitors: 1, conversions: 0 },
      { variantId: 'b', visitors: 1, conversions: 1 },
    ]);
});

test('results: events received before the erasure of their visitor are not kept, and a visitor who comes back counts', async () => {
  const account = randomUUID();
  const { shown, bought } = of(account);
  await rig.assign(account, 'gone', 'a');
  await rig.addVisitor(account, 'gone');
  const late = [shown('gone', 'a', 1), bought('gone', 2)];
  expect(await rig.erase(account, 'gone')).toEqual(['gone']);
  await rig.start(account);
  await rig.send(account, [...late, shown('here', 'a', 1)]);
  await expect.poll(() => rig.results(account), slow).toEqual([{ variantId: 'a', visitors: 1, conversions: 0 }]);
  await rig.send(account, [shown('gone', 'b', 1)]);
  const both = ['a', 'b'].map((variantId) => ({ variantId, visitors: 1, conversions: 0 }));
  await expect.poll(() => rig.results(account), slow).toEqual(both);
});

test('results: while the database is unavailable frames stay in the log, also over a restart', async () => {
  const account = randomUUID();
  const { shown } = of(account);
  const first = await rig.start(account);
  await rig.pool.query('alter table experiment_visitors rename to experiment_visitors_away');
  await rig.send(account, [shown('one', 'a', 1)]);
  await expect.poll(() => first.stats()['write_retries'], slow).toBeGreaterThan(0);
  expect(first.stats()['frames_waiting']).toBe(1);
  await first.stop(50);
  await rig.send(account, [shown('two', 'a', 1)]);
  await rig.pool.query('alter table experiment_visitors_away rename to experiment_visitors');
  await rig.start(account);
  await expect.poll(() => rig.results(account), slow).toEqual([{ variantId: 'a', visitors: 2, conversions: 0 }]);
});
