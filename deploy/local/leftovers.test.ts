import { mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServiceRecord } from './leftovers.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-leftovers-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('service record: is complete again with the first service after it could not be written', async () => {
  const file = join(folder, 'services.json');
  const record = createServiceRecord(folder);
  // A folder there refuses writes as a full disk does.
  await mkdir(file);
  await expect(record.put('gateway', process.pid)).rejects.toThrow('EISDIR');
  await rmdir(file);
  await record.put('pipeline', process.pid);
  expect(Object.keys(JSON.parse(await readFile(file, 'utf8')) as object)).toEqual(['gateway', 'pipeline']);
  await record.clear();
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});

test('service record: can be cleared after it could not be written', async () => {
  const record = createServiceRecord(join(folder, 'missing'));
  await expect(record.put('gateway', process.pid)).rejects.toThrow('ENOENT');
  await record.clear();
});
