import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { givesHeap } from '../../shared/runtime/heap-option.ts';

export type PoolOptions = {
  readonly threads: number;
  /** Heap of one thread, in MiB; a thread that exceeds it dies alone. */
  readonly heapMaxMib: number;
  /** Part of the heap for new objects, in MiB; V8's own choice by default. */
  readonly youngHeapMaxMib?: number;
  /** The collector does not mark a heap below this size, in MiB; V8's own choice by default. */
  readonly heapFloorMib?: number;
  /** Source file of the task's module; tests pass their own. */
  readonly host?: URL;
};

/** The threads of the process: as many as there are hosts, from the start to the end. */
export function createPool({ threads, heapMaxMib, youngHeapMaxMib, heapFloorMib, host }: PoolOptions): Piscina {
  // The command line's heap option for the main thread would override the threads' limits. The main thread has its heap.
  if (givesHeap(process.execArgv.join(' '))) setFlagsFromString(`--max-old-space-size=${heapMaxMib}`);
  // Threads have no such limit of their own; the flag applies to heaps created from now on.
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
