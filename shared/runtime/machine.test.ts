import { availableParallelism, totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { cpuQuota, readMachine } from './machine.ts';

test('machine: the cores and memory that this process may use are no more than the machine has', () => {
  const { cores, memoryBytes } = readMachine();
  expect(cores).toBeGreaterThan(0);
  expect(cores).toBeLessThanOrEqual(availableParallelism());
  expect(memoryBytes).toBeGreaterThan(0);
  expect(memoryBytes).toBeLessThanOrEqual(totalmem());
});

test('machine: the smallest quota of a group and of the groups that contain it applies', () => {
  const files: Readonly<Record<string, string>> = {
    '/system.slice/sluice.service': 'max 100000\n',
    '/system.slice': '150000 100000\n',
    '': '400000 100000\n',
  };
  expect(cpuQuota('0::/system.slice/sluice.service\n', (folder) => files[folder] ?? '')).toBe(1.5);
  expect(cpuQuota('0::/\n', (folder) => files[folder] ?? '')).toBe(4);
});

test('machine: without a quota or without control groups, the cores are not limited', () => {
  expect(cpuQuota('0::/a\n', () => 'max 100000\n')).toBe(Number.POSITIVE_INFINITY);
  expect(cpuQuota('', () => '')).toBe(Number.POSITIVE_INFINITY);
});
