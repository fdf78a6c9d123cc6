import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDeduplication, deduplicationStepMs } from './deduplication.ts';
import type { IdRun } from '../../../shared/contracts/events/checkpoint.ts';
import { encodeHashes, groupOf, hashEvent } from '../../../shared/contracts/events/event-hash.ts';

const windowMs = 25_600;
const stepMs = deduplicationStepMs({ windowMs, idsMax: 0 });

test('deduplication: exact inside the window; an id is forgotten at most one step after the window', () => {
  const event = fc.record({ id: fc.integer({ min: 0, max: 30 }), afterMs: fc.integer({ min: 0, max: 6_000 }) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 120 }), (events) => {
      const table = createDeduplication({ windowMs, idsMax: 16_000 });
      const firstSeen = new Map<number, number>();
      let nowMs = 1_000_000;
      for (const { id, afterMs } of events) {
        nowMs += afterMs;
        const added = table.add(hashEvent('account', String(id)), nowMs);
        const seenMs = firstSeen.get(id);
        const ageMs = seenMs === undefined ? Number.POSITIVE_INFINITY : nowMs - seenMs;
        if (ageMs < windowMs) expect(added).toBe(false);
        if (ageMs >= windowMs + stepMs) expect(added).toBe(true);
        if (added) firstSeen.set(id, nowMs);
      }
      expect(table.effectiveWindowMs).toBe(windowMs);
    }),
  );
});

test('deduplication: the same id in another account counts as a different event', () => {
  const table = createDeduplication({ windowMs, idsMax: 100 });
  expect(table.add(hashEvent('a', 'e'), 1)).toBe(true);
  expect(table.add(hashEvent('b', 'e'), 1)).toBe(true);
  expect(table.add(hashEvent('a', 'e'), 2)).toBe(false);
});

test('deduplication: a clock that goes back counts as standing still', () => {
  const table = createDeduplication({ windowMs, idsMax: 100 });
  table.add(hashEvent('a', 'late'), 1_000_000);
  expect(table.add(hashEvent('a', 'early'), 900_000)).toBe(true);
  expect(table.add(hashEvent('a', 'early'), 1_000_000 + windowMs - 1)).toBe(false);
});

test('deduplication: a full table keeps the newest ids, and the effective window says how far back they go', () => {
  const idsMax = 16 * 100;
  const table = createDeduplication({ windowMs, idsMax });
  const total = 10_000;
  for (let id = 0; id < total; id += 1) table.add(hashEvent('a', String(id)), 1_000_000 + id);
  const nowMs = 1_000_000 + total - 1;
  expect(table.size).toBeLessThanOrEqual(idsMax);
  expect(table.size).toBeGreaterThan(idsMax * 0.95);
  const windowNow = table.effectiveWindowMs;
  expect(windowNow).toBeGreaterThan(1_000);
  expect(windowNow).toBeLessThan(idsMax);
  const stillKnown = total - 1 - windowNow;
  expect(table.add(hashEvent('a', String(stillKnown)), nowMs)).toBe(false);
  expect(table.add(hashEvent('a', '10'), nowMs)).toBe(true);
});

const accounts = ['a', 'b', 'c', 'd'];
const hashOf = (id: number) => hashEvent(accounts[id % accounts.length] ?? '', String(id));

test('deduplication: however many ids an account adds, the ids of other accounts stay', () => {
  expect(new Set(accounts.map((account) => groupOf(hashEvent(account, '').low))).size).toBe(accounts.length);
  const [flood = '', ...others] = accounts;
  const idsMax = 16 * 100;
  const event = fc.record({ account: fc.constantFrom(...others), id: fc.nat(60), before: fc.nat(600) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const table = createDeduplication({ windowMs, idsMax });
      let sent = 0;
      const sendFlood = (count: number): void => {
        for (const end = sent + count; sent < end; sent += 1) table.add(hashEvent(flood, String(sent)), 1_000_000);
      };
      const known = new Set<string>();
      for (const { account, id, before } of events) {
        sendFlood(before);
        const key = `${account} ${id}`;
        expect(table.add(hashEvent(account, String(id)), 1_000_000)).toBe(!known.has(key));
        known.add(key);
      }
      sendFlood(2 * idsMax);
      for (const { account, id } of events) expect(table.has(hashEvent(account, String(id)))).toBe(true);
      expect(table.size).toBeGreaterThan(0.95 * idsMax);
      expect(table.size).toBeLessThanOrEqual(idsMax);
    }),
    { numRuns: 30 },
  );
});

test('deduplication: an account takes room from the one that has filled the table, until both have as many ids', () => {
  const idsMax = 16 * 1_000;
  const table = createDeduplication({ windowMs, idsMax });
  const add = (account: string): void => {
    for (let id = 0; id < 2 * idsMax; id += 1) table.add(hashEvent(account, String(id)), 1_000_000);
  };
  const count = (account: string): number =>
    Array.from({ length: 2 * idsMax }, (_, id) => table.has(hashEvent(account, String(id)))).filter(Boolean).length;
  add('a');
  expect(count('a')).toBe(idsMax);
  add('b');
  expect([count('a'), count('b')]).toEqual([idsMax / 2, idsMax / 2]);
});

test('deduplication: a table of any size starts small, and takes at most 13 bytes an id when full', () => {
  for (const idsMax of [1_000, 8_000_000, 100_000_000]) {
    expect(createDeduplication({ windowMs, idsMax }).bytes).toBeLessThan(6 * 1024 ** 2);
  }
  const table = createDeduplication({ windowMs, idsMax: 500_000 });
  for (let id = 0; id < 600_000; id += 1) table.add(hashOf(id), 1_000_000);
  expect(table.bytes / table.size).toBeLessThan(13);
});

test('deduplication: a table filled with packed ids equals a table filled with the same ids one by one', () => {
  const steps = fc.array(fc.tuple(fc.nat(6_000), fc.array(fc.nat(400), { maxLength: 60 })), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (runs) => {
      const make = () => createDeduplication({ windowMs, idsMax: 16 * 20 });
      const [one, packed, bulk] = [make(), make(), make()];
      bulk.reserve(100);
      const all: IdRun[] = [];
      let timeMs = 1_000_000;
      for (const [afterMs, ids] of runs) {
        timeMs += afterMs;
        const hashes = ids.map(hashOf);
        for (const hash of hashes) one.add(hash, timeMs);
        const run = { ids: Buffer.from(encodeHashes(hashes), 'base64'), timeMs };
        packed.addPacked(run);
        all.push(run);
      }
      const half = Math.floor(all.length / 2);
      bulk.addRuns(all.slice(0, half));
      bulk.addRuns(all.slice(half));
      const [first, ...others] = [one, packed, bulk].map((table) =>
        Array.from({ length: 401 }, (_, id) => table.add(hashOf(id), timeMs)),
      );
      expect(others).toEqual([first, first]);
    }),
  );
});

test('deduplication: expired ids free their space', () => {
  const table = createDeduplication({ windowMs, idsMax: 100_000 });
  for (let id = 0; id < 10_000; id += 1) table.add(hashEvent('a', String(id)), 1_000);
  for (let id = 0; id < 1_000; id += 1) table.add(hashEvent('b', String(id)), 1_000 + windowMs + stepMs);
  expect(table.size).toBe(1_000);
});

test('deduplication: until the window is over, an event may repeat an id of an earlier build', () => {
  const table = createDeduplication({ windowMs, idsMax: 1_000 });
  const hash = hashEvent('a', 'e');
  expect(table.has(hash)).toBe(false);
  table.addPacked({ ids: Buffer.from(encodeHashes([hash]), 'base64'), timeMs: 90_000_000 });
  expect([table.has(hash), table.mayRepeatUngrouped(90_000_000)]).toEqual([true, false]);
  table.noteUngrouped(90_000_000);
  table.noteUngrouped(80_000_000);
  expect(table.ungroupedUntilMs).toBe(90_000_000);
  const times = [90_000_000, 90_000_000 + windowMs, 90_000_000 + 2 * windowMs];
  expect(times.map((timeMs) => table.mayRepeatUngrouped(timeMs))).toEqual([true, true, false]);
});
