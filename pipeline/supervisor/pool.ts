import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { givesHeap } from '../../shared/runtime/heap-option.ts';

export type PoolOptions = {
  readonly threads: number;
  /** Heap of one thread, in MiB; a thread that exceeds it dies, and the others continue. */
  readonly heapMaxMib: number;
  /** Part of the heap for new objects, in MiB; V8's own choice by default. */
  readonly youngHeapMaxMib?: number;
  /** The collector does not mark a heap below this size, in MiB; V8's own choice by default. */
  readonly heapFloorMib?: number;
  /** Source file of the task's module; tests pass their own. */
  readonly host?: URL;
};

/** Creates the pool: one thread per host, from the start of the process to its end. */
export function createPool({ threads, heapMaxMib, youngHeapMaxMib, heapFloorMib, host }: PoolOptions): Piscina {
  // A heap option on the command line would override the threads' limits; the main thread already has its heap.
  if (givesHeap(process.execArgv.join(' '))) setFlagsFromString(`--max-old-space-size=${heapMaxMib}`);
  // `resourceLimits` has no such option, but the flag applies to all heaps created from now on.
  if (heapFloorMib !== undefined) setFlagsFromString(`--initial-old-space-size=${Math.min(heapFloorMib, heapMaxMib)}`);
  return new Piscina({
    filename: compiledPath(new URL('../threads/import-host.cts', import.meta.url)),
    name: 'runHost',
    workerData: { host: pathToFileURL(compiledPath(host ?? new URL('../threads/host.ts', import.meta.url))).href },
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    // With Piscina's default, the event loop of an idle worker stops.
    atomics: 'disabled',
    resourceLimits: {
      maxOldGenerationSizeMb: heapMaxMib,
      ...(youngHeapMaxMib === undefined ? {} : { maxYoungGenerationSizeMb: youngHeapMaxMib }),
    },
  });
}
