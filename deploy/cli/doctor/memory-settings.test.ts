import { expect, test } from 'vitest';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import { memoryEnv, serviceMemory } from './memory-settings.ts';

const mebibyte = 1024 ** 2;
const usual = { ...defaultsOf(memoryEnv), PIPELINE_THREADS: 2, PIPELINE_THREAD_HEAP_MIB: 1_024 };
const heapBytes = 512 * mebibyte;
const sumOf = (env: typeof usual, of: string, partitions = 4): number => {
  const found = serviceMemory(env, { heapBytes, partitions }).find((use) => use.of === of);
  return (found?.parts ?? []).reduce((sum, { bytes }) => sum + bytes, 0) / mebibyte;
};

test('service memory: the estimate is derived from the settings that limit it', () => {
  expect(sumOf(usual, 'gateway')).toBe(512 + 64 + 128 + 64);
  expect(sumOf(usual, 'control plane')).toBe(512 + 64);
  const one = sumOf(usual, 'pipeline');
  expect(sumOf({ ...usual, PIPELINE_THREADS: 3 }, 'pipeline') - one).toBe(1_024 + 24 + 64);
  expect(sumOf(usual, 'pipeline', 8) - one).toBeCloseTo((4 * 8_000_000 * 13) / mebibyte);
});

test('service memory: a service that does not run here has 0 processes', () => {
  const here = serviceMemory(usual, { heapBytes, partitions: 4 }, { gateways: 4, pipelines: 0, controlPlanes: 1 });
  expect(here.map(({ of, processes }) => [of, processes])).toEqual([
    ['gateway', 4],
    ['pipeline', 0],
    ['control plane', 1],
  ]);
});
