import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { givesHeap } from '../../shared/runtime/heap-option.ts';

export type PoolOptions = {
  readonly threads: number;
  /** Heap of one thread, in MiB; a thread that outgrows it dies alone. */
  readonly heapMaxMib: number;
  /** Part of the heap for new objects, in MiB; V8's own choice by default. */
  readonly youngHeapMaxMib?: number;
  /** Up to this much of the heap is not looked through for what is no longer used, in MiB; V8's own choice by default. */
  readonly heapFloorMib?: number;
  /** The module of the task, by its source file; a test's own. */
  readonly host?: URL;
};

/** The threads of the process: as many as there are hosts, from the start to the end. */
export function createPool({ threads, heapMaxMib, youngHeapMaxMib, heapFloorMib, host }: PoolOptions): Piscina {
  // What the command line says of the main thread's heap would go before the limits of threads. It has its heap already.
  if (givesHeap(process.execArgv.join(' '))) setFlagsFromString(`--max-old-space-size=${heapMaxMib}`);
  // Threads have no such limit of their own, and the flag counts for heaps that are made from now on.
  if (heapFloorMib !== undefined) setFlagsFromString(`--initial-old-space-size=${Math.min(heapFloorMib, heapMaxMib)}`);
  return new Piscina({
    filename: compiledPath(host ?? new URL('../threads/host.ts', import.meta.url)),
    name: 'runHost',
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    // The default lets an idle worker sleep with its event loop stopped.
    atomics: 'disabled',
    resourceLimits: {
      maxOldGenerationSizeMb: heapMaxMib,
      ...(youngHeapMaxMib === undefined ? {} : { maxYoungGenerationSizeMb: youngHeapMaxMib }),
    },
  });
}
