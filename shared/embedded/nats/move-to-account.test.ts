import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { moveToAccount } from './move-to-account.ts';

let storeDir: string;
const make = (...parts: readonly string[]): Promise<unknown> =>
  mkdir(join(storeDir, 'jetstream', ...parts), { recursive: true });

beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'sluice-account-'));
});
afterEach(() => rm(storeDir, { recursive: true, force: true }));

test('move to account: streams without an account get one, and streams that have the account stay where they are', async () => {
  expect(await moveToAccount(storeDir, 'LOG')).toBe(false);
  await make('$G', 'streams', 'EVENTS');
  expect(await moveToAccount(storeDir, 'LOG')).toBe(true);
  expect(await readdir(join(storeDir, 'jetstream', 'LOG', 'streams'))).toEqual(['EVENTS']);
  // A server creates this folder for its global account, even without streams.
  await make('$G');
  expect(await moveToAccount(storeDir, 'LOG')).toBe(false);
});

test('move to account: two logs in one folder cause an error that names both', async () => {
  await make('$G', 'streams', 'EVENTS');
  await make('LOG', 'streams', 'EVENTS');
  await expect(moveToAccount(storeDir, 'LOG')).rejects.toThrow(/twice: in .*\$G.* and in .*LOG/);
  expect(await readdir(join(storeDir, 'jetstream'))).toHaveLength(2);
});
