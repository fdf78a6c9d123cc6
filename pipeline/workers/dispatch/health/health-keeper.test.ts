import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  decodeHealthRecord,
  joinHealth,
  pastHealthKey,
  recentHealthKey,
} from '../../../../shared/contracts/health-record.ts';
import { PublishError } from '../../../../shared/nats/publish/publisher.ts';
import { HealthKeeper } from './health-keeper.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A keeper whose bucket accepts entries, refuses them, or does not answer. */
async function open() {
  const log = {
    answer: 'takes' as 'takes' | 'refuses' | 'hangs',
    isThere: true,
    writes: 0,
    entries: new Map<string, Uint8Array>(),
    effects: [] as string[],
  };
  const put = (key: string, value: Uint8Array): Promise<number> => {
    log.writes += 1;
    log.effects.push(`health ${log.answer}`);
    if (log.answer === 'takes') log.entries.set(key, value);
    if (log.answer === 'hangs') return new Promise(() => undefined);
    if (log.answer === 'takes') return Promise.resolve(log.writes);
    return Promise.reject(new PublishError('refused', 'bucket HEALTH'));
  };
  const keeper = await HealthKeeper.open({
    bucket: {
      get: () => Promise.resolve(undefined),
      put,
      putIfUnchanged: put,
      delete: () => Promise.resolve(),
      keys: () => Promise.resolve([]),
      watch: () => Promise.reject(new Error('not watched')),
    },
    destinationId: 'd',
    instanceId: 'i',
    flushEveryMs: 10,
    hoursKept: 168,
    place: () => ({ upTo: 0, above: [], storedUntilMs: 0, parts: [] }),
    storePlace: () => {
      log.effects.push('position');
      return Promise.resolve();
    },
    sending: () => undefined,
    isLogThere: () => log.isThere,
    warn: () => undefined,
  });
  return { log, keeper };
}

/** Whether `stored` has settled after `afterMs`. */
async function goesOn(keeper: HealthKeeper, afterMs: number): Promise<boolean> {
  let isOver = false;
  void (keeper.stored() ?? Promise.resolve()).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(afterMs);
  return isOver;
}

test('health: acknowledgements wait until health is stored', async () => {
  const { keeper, log } = await open();
  keeper.record('succeeded', 1);
  expect(await goesOn(keeper, 20)).toBe(true);
  expect([log.writes, keeper.isBehind]).toEqual([1, false]);
});

test('order of effects: the position is stored once the counts are stored or refused', async () => {
  const { keeper, log } = await open();
  keeper.record('succeeded', 1);
  expect(await goesOn(keeper, 20)).toBe(true);
  expect(log.effects).toEqual(['health takes', 'position']);
  log.answer = 'refuses';
  keeper.record('succeeded', 1);
  expect(await goesOn(keeper, 20)).toBe(true);
  expect(log.effects.slice(2, 4)).toEqual(['health refuses', 'position']);
});

test('health: minutes that leave the recent entry are in the past entry, even if the past entry was refused at first', async () => {
  const { keeper, log } = await open();
  for (let minute = 1; minute <= 31; minute += 1) {
    if (minute === 31) log.answer = 'refuses';
    keeper.record('succeeded', 1);
    expect(await goesOn(keeper, 20)).toBe(true);
    if (minute < 31) await vi.advanceTimersByTimeAsync(60_000);
  }
  log.answer = 'takes';
  await vi.advanceTimersByTimeAsync(1_000);
  const recentKey = recentHealthKey('d', 'i');
  const [past, recent] = [pastHealthKey(recentKey), recentKey].map((key) => decodeHealthRecord(log.entries.get(key)));
  expect(recent?.minutes).toHaveLength(1);
  expect(joinHealth(past, recent ?? expect.unreachable()).minutes).toHaveLength(31);
});

test('health: while no event is delivered, health is stored less often; the first delivery is stored without delay', async () => {
  const { keeper, log } = await open();
  keeper.record('failed', 1);
  expect(await goesOn(keeper, 0)).toBe(true);
  keeper.record('failed', 1);
  expect(await goesOn(keeper, 30)).toBe(false);
  keeper.record('succeeded', 1);
  expect(await goesOn(keeper, 0)).toBe(true);
  expect(log.writes).toBe(2);
  keeper.record('failed', 1);
  expect(await goesOn(keeper, 30)).toBe(false);
  expect(await goesOn(keeper, 10)).toBe(true);
});

test('health: a full bucket does not delay acknowledgements, and writing is repeated until the bucket accepts the counts', async () => {
  const { keeper, log } = await open();
  log.answer = 'refuses';
  keeper.record('succeeded', 1);
  expect(await goesOn(keeper, 20)).toBe(true);
  keeper.record('succeeded', 1);
  expect([keeper.stored(), keeper.isBehind]).toEqual([undefined, true]);
  log.answer = 'takes';
  await vi.advanceTimersByTimeAsync(1_000);
  expect([keeper.stored(), keeper.isBehind]).toEqual([undefined, false]);
  keeper.record('succeeded', 1);
  expect(keeper.stored()).toBeInstanceOf(Promise);
});

test('health: a bucket that does not answer delays acknowledgements by at most two seconds, or longer while the log is away', async () => {
  const { keeper, log } = await open();
  log.answer = 'hangs';
  log.isThere = false;
  keeper.record('succeeded', 1);
  const stored = goesOn(keeper, 10_000);
  expect(await stored).toBe(false);
  log.isThere = true;
  expect(await goesOn(keeper, 2_000)).toBe(true);
  expect(keeper.isBehind).toBe(true);
});

test('health: events that are passed cause no write until they may be decided otherwise, or until the stop', async () => {
  const { keeper, log } = await open();
  keeper.passed();
  await vi.advanceTimersByTimeAsync(60_000);
  keeper.decisionsChanged();
  keeper.decisionsChanged();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log.effects).toEqual(['health takes', 'position']);
  keeper.passed();
  await keeper.stop();
  expect(log.effects.slice(2)).toEqual(['health takes', 'position']);
});
