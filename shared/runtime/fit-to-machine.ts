import type { Machine } from './machine.ts';

/** Defaults that depend on the machine of the process. */
export type FittedSettings = {
  /** Partitions of a new log. */
  readonly partitions: number;
  /** Threads of a pipeline. */
  readonly threads: number;
  /** Limit of the JavaScript heap of a service's main thread. */
  readonly mainHeapMib: number;
  /** Cores of the nats-server that shares the machine with the services (GOMAXPROCS). */
  readonly logCores: number;
  /** GOMEMLIMIT of that nats-server. */
  readonly logMemoryMib: number;
};

const mebibyte = 1024 ** 2;
const fittedMax = 16;
/** Memory of a partition's full deduplication, 13 bytes per id. */
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
 * The defaults for a machine on which everything runs: gateway, pipeline, control plane, nats-server and PostgreSQL.
 * Pure.
 */
export function fitToMachine({ cores, memoryBytes }: Machine): FittedSettings {
  const memoryMib = memoryBytes / mebibyte;
  return {
    // More partitions than the cores can resolve only make frames smaller. Two leave room for a second machine.
    partitions: between(2, Math.min(cores / 2, memoryMib / 8 / partitionMib), fittedMax),
    threads: between(1, Math.min(cores, memoryMib / 4 / (threadHeap.min + besideHeapMib)), fittedMax),
    mainHeapMib: between(mainHeap.min, memoryMib / 16, mainHeap.max),
    // On a machine with two cores, nats-server on both took a fifth more processor time per event than on one, mostly
    // to switch between threads, and its clients waited for a core.
    logCores: between(1, cores / 2, fittedMax),
    // nats-server keeps stored messages in memory for some seconds: more than 320 MiB at 32,000 events/s in batches. At
    // a lower limit it collects garbage constantly and takes 18 us of processor time per event instead of 6.
    logMemoryMib: between(logMemory.min, memoryMib / 16, logMemory.max),
  };
}

/** Heap of each of `threads` threads, in MiB, on a machine of this memory. Pure. */
export function fitThreadHeap({ memoryBytes }: Pick<Machine, 'memoryBytes'>, threads: number): number {
  return between(threadHeap.min, memoryBytes / mebibyte / 4 / threads - besideHeapMib, threadHeap.max);
}

const between = (min: number, value: number, max: number): number => Math.max(min, Math.min(max, Math.floor(value)));
