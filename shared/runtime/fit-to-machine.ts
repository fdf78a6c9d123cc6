import type { Machine } from './machine.ts';

/** Defaults that depend on the machine of the process. */
export type FittedSettings = {
  /** Partitions of a new log. */
  readonly partitions: number;
  /** Threads of a pipeline. */
  readonly threads: number;
  /** Heap of a service's main thread. */
  readonly mainHeapMib: number;
  /** Cores of a nats-server beside the services. */
  readonly logCores: number;
  /** That server's GOMEMLIMIT. */
  readonly logMemoryMib: number;
};

const mebibyte = 1024 ** 2;
const fittedMax = 16;
/** Memory of a partition's full deduplication, 13 bytes an id. */
const partitionMib = 100;
const mainHeap = { min: 256, max: 1_024 };
const threadHeap = { min: 256, max: 1_024 };
const logMemory = { min: 320, max: 1_024 };
/** Memory of a thread in addition to its old heap: new objects, and the cache of visitors. */
const besideHeapMib = 88;

// The rules in words, for the page of all settings.
export const partitionsRule = 'one per two cores and per 800 MiB of memory; 2 to 16';
export const threadsRule = 'one per core and per 1.35 GiB of memory; 1 to 16';
export const threadHeapRule = 'a quarter of the memory, shared by the threads; 256 to 1024';
export const logCoresRule = 'half of the cores; 1 to 16';
export const logMemoryRule = 'a sixteenth of the memory; 320 to 1024 MiB';
export const mainHeapRule = 'a sixteenth of the memory; 256 to 1024';

/**
 * Sizes that take cores and memory, for a machine on which everything runs: gateway, pipeline, control plane,
 * nats-server and PostgreSQL. Pure.
 */
export function fitToMachine({ cores, memoryBytes }: Machine): FittedSettings {
  const memoryMib = memoryBytes / mebibyte;
  return {
    // More partitions than the cores can resolve only make frames smaller. Two leave room for a second machine.
    partitions: between(2, Math.min(cores / 2, memoryMib / 8 / partitionMib), fittedMax),
    threads: between(1, Math.min(cores, memoryMib / 4 / (threadHeap.min + besideHeapMib)), fittedMax),
    mainHeapMib: between(mainHeap.min, memoryMib / 16, mainHeap.max),
    // With all of two cores the server took a fifth more processor time an event, most of it for hand-overs between
    // threads, and its clients waited for a core.
    logCores: between(1, cores / 2, fittedMax),
    // The server keeps what it stored for some seconds: at 32,000 events/s in batches that is more than 320 MiB, and
    // below its limit it collects garbage constantly: 18 us of processor time an event instead of 6.
    logMemoryMib: between(logMemory.min, memoryMib / 16, logMemory.max),
  };
}

/** Heap of each of `threads` threads, in MiB, on a machine of this memory. Pure. */
export function fitThreadHeap({ memoryBytes }: Pick<Machine, 'memoryBytes'>, threads: number): number {
  return between(threadHeap.min, memoryBytes / mebibyte / 4 / threads - besideHeapMib, threadHeap.max);
}

const between = (min: number, value: number, max: number): number => Math.max(min, Math.min(max, Math.floor(value)));
