import { expect, test } from 'vitest';
import { durabilityOf, readDurability, weakest } from './read-durability.ts';
import type { Durability } from './read-durability.ts';

const page = (config: object | undefined) => ({
  version: '2.10.27',
  jetstream: config === undefined ? {} : { config },
});

test('durability: a server that syncs always is fsync, whatever interval it also reports', () => {
  expect(durabilityOf(page({ sync_always: true, sync_interval: 120_000_000_000 })).mode).toBe('fsync');
});

test('durability: the sync interval of a server is how much a power cut may lose', () => {
  expect(durabilityOf(page({ sync_interval: 30_000_000_000 }))).toMatchObject({
    mode: 'interval',
    flushEveryMs: 30_000,
  });
});

test('durability: a server that names no interval has the default of two minutes', () => {
  expect(durabilityOf(page({}))).toMatchObject({ mode: 'interval', flushEveryMs: 120_000 });
});

test('durability: a server without JetStream is unknown', () => {
  expect(durabilityOf(page(undefined)).mode).toBe('unknown');
});

test('durability: the server that promises least decides', () => {
  const fsync: Durability = { mode: 'fsync', detail: '' };
  const unknown: Durability = { mode: 'unknown', detail: '' };
  const interval = (flushEveryMs: number): Durability => ({ mode: 'interval', flushEveryMs, detail: '' });
  expect(weakest([fsync, fsync])).toBe(fsync);
  expect(weakest([fsync, unknown, fsync])).toBe(unknown);
  expect(weakest([unknown, interval(10), interval(20)])).toMatchObject({ flushEveryMs: 20 });
});

test('durability: without an address of the monitor port, the detail names the variable to set', async () => {
  expect(await readDurability(undefined)).toMatchObject({
    mode: 'unknown',
    detail: expect.stringContaining('NATS_MONITOR_URL') as string,
  });
});

test('durability: if nothing listens at the address, the mode is unknown, and the detail has no password', async () => {
  const found = await readDurability('http://someone:hidden@127.0.0.1:1');
  expect(found.mode).toBe('unknown');
  expect(found.detail).toMatch(/127\.0\.0\.1:1/);
  expect(found.detail).not.toContain('hidden');
});
