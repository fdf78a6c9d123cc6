import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitThreadHeap, fitToMachine } from './fit-to-machine.ts';

const gibibyte = 1024 ** 3;
const machine = fc.record({
  cores: fc.double({ min: 0.1, max: 256, noNaN: true }),
  memoryBytes: fc.integer({ min: gibibyte / 4, max: 1024 * gibibyte }),
});
const on = (cores: number, memoryGib: number) => {
  const memoryBytes = memoryGib * gibibyte;
  const fitted = fitToMachine({ cores, memoryBytes });
  return { ...fitted, threadHeapMib: fitThreadHeap({ memoryBytes }, fitted.threads) };
};

test.each([
  [2, 24, { partitions: 2, threads: 2, mainHeapMib: 1_024, logCores: 1, logMemoryMib: 1_024, threadHeapMib: 1_024 }],
  [2, 4, { partitions: 2, threads: 2, mainHeapMib: 256, logCores: 1, logMemoryMib: 320, threadHeapMib: 424 }],
  [0.5, 1, { partitions: 2, threads: 1, mainHeapMib: 256, logCores: 1, logMemoryMib: 320, threadHeapMib: 256 }],
  [8, 16, { partitions: 4, threads: 8, mainHeapMib: 1_024, logCores: 4, logMemoryMib: 1_024, threadHeapMib: 424 }],
  [
    64,
    256,
    { partitions: 16, threads: 16, mainHeapMib: 1_024, logCores: 16, logMemoryMib: 1_024, threadHeapMib: 1_024 },
  ],
])('fit to machine: %d cores and %d GiB', (cores, memoryGib, fitted) => {
  expect(on(cores, memoryGib)).toEqual(fitted);
});

test('fit to machine: the defaults are whole numbers, within the limits of their settings', () => {
  fc.assert(
    fc.property(machine, (one) => {
      const { partitions, threads, mainHeapMib, logCores, logMemoryMib } = fitToMachine(one);
      const threadHeapMib = fitThreadHeap(one, threads);
      for (const value of [partitions, threads, mainHeapMib, threadHeapMib, logCores, logMemoryMib])
        expect(Number.isInteger(value)).toBe(true);
      expect(Math.min(threads, logCores)).toBeGreaterThanOrEqual(1);
      expect(Math.max(partitions, threads, logCores)).toBeLessThanOrEqual(16);
      expect(partitions).toBeGreaterThanOrEqual(2);
      for (const heap of [mainHeapMib, threadHeapMib, logMemoryMib]) {
        expect(heap).toBeGreaterThanOrEqual(256);
        expect(heap).toBeLessThanOrEqual(1_024);
      }
    }),
  );
});

test('fit to machine: a larger machine never gets less; threads are limited by the cores and partitions by half the cores', () => {
  fc.assert(
    fc.property(machine, machine, (a, b) => {
      const [small, large] = [a, b].map((one) => fitToMachine(one));
      if (a.cores <= b.cores && a.memoryBytes <= b.memoryBytes) {
        expect(large?.partitions).toBeGreaterThanOrEqual(small?.partitions ?? 0);
        expect(large?.threads).toBeGreaterThanOrEqual(small?.threads ?? 0);
        expect(large?.mainHeapMib).toBeGreaterThanOrEqual(small?.mainHeapMib ?? 0);
      }
      const { partitions, threads } = fitToMachine(a);
      expect(threads).toBeLessThanOrEqual(Math.max(1, a.cores));
      expect(partitions).toBeLessThanOrEqual(Math.max(2, a.cores / 2));
    }),
  );
});

test('fit to machine: from 1.5 GiB of memory on, all threads together take at most a quarter of the memory', () => {
  fc.assert(
    fc.property(machine, (one) => {
      const { threads } = fitToMachine(one);
      fc.pre(one.memoryBytes >= 1.5 * gibibyte);
      const takenMib = threads * (fitThreadHeap(one, threads) + 88);
      expect(takenMib * 1024 ** 2).toBeLessThanOrEqual(one.memoryBytes / 4);
    }),
  );
});
