import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fitToMachine } from './fit-to-machine.ts';
import { givesHeap, heapOptions } from './heap-option.ts';
import { readMachine } from './machine.ts';

test('heap option: is MAIN_HEAP_MIB if that is valid, and otherwise fits the machine', () => {
  const { mainHeapMib } = fitToMachine(readMachine());
  expect(heapOptions({})).toEqual([`--max-old-space-size=${mainHeapMib}`]);
  expect(heapOptions({ MAIN_HEAP_MIB: '300' })).toEqual(['--max-old-space-size=300']);
  for (const invalid of ['much', '1']) {
    expect(heapOptions({ MAIN_HEAP_MIB: invalid })).toEqual([`--max-old-space-size=${mainHeapMib}`]);
  }
});

test('heap option: may come from a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-heap-'));
  const file = join(folder, 'heap');
  await writeFile(file, '300\n');
  expect(heapOptions({ MAIN_HEAP_MIB_FILE: file })).toEqual(['--max-old-space-size=300']);
  await rm(folder, { recursive: true });
});

test('heap option: NODE_OPTIONS takes precedence', () => {
  expect(heapOptions({ NODE_OPTIONS: '--trace-gc --max-old-space-size=200', MAIN_HEAP_MIB: '300' })).toEqual([]);
  expect(givesHeap('--max_old_space_size=200')).toBe(true);
  expect(givesHeap('--max-semi-space-size=8')).toBe(false);
});
