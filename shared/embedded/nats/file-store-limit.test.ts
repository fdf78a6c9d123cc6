import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';

import { looksGiven } from '../../nats/monitor/read-log-servers.ts';
import { chooseFileStoreBytes, fileStoreBytes } from './file-store-limit.ts';

const gibibyte = 1024 ** 3;

test.each([
  ['three quarters of the disk', 100 * gibibyte, 8 * gibibyte, 75 * gibibyte],
  ['what the streams may take, where the disk has it', 10 * gibibyte, 8 * gibibyte, 8 * gibibyte],
  ['the whole disk, where the streams may take more', 4 * gibibyte, 8 * gibibyte, 4 * gibibyte],
  ['never nothing', 4_096, 0, 1024 ** 2],
])('file store limit: %s', (_, diskBytes, atLeastBytes, limit) => {
  expect(fileStoreBytes(diskBytes, atLeastBytes)).toBe(limit);
});

test('file store limit: the same at every start, in a number nobody takes for a server’s own choice', async () => {
  const limit = await chooseFileStoreBytes(tmpdir());
  expect(await chooseFileStoreBytes(tmpdir())).toBe(limit);
  expect(looksGiven(limit)).toBe(true);
});
