import type { Static, TObject } from 'typebox';
import { fitThreadHeap, fitToMachine, threadHeapRule, threadsRule } from '../../shared/runtime/fit-to-machine.ts';
import { readMachine } from '../../shared/runtime/machine.ts';
import { count, fittedCount } from '../../shared/runtime/variables.ts';
import type { PoolOptions } from './pool.ts';

export const poolEnv = {
  PIPELINE_THREADS: fittedCount('Worker threads that resolvers and dispatchers are spread over', threadsRule, {
    maximum: 256,
  }),
  PIPELINE_THREAD_SILENT_MS: count(
    'A thread reports every second; one that is silent for this long hangs: it is ended and its actors move to other threads. Time in which it waited for a processor, or the whole process was stopped, does not count',
    8_000,
    { unit: 'ms', minimum: 5_000 },
  ),
  PIPELINE_THREAD_HEAP_MIB: fittedCount(
    'JavaScript heap of one thread; a thread that exceeds it dies and is restarted',
    threadHeapRule,
    { unit: 'MiB', minimum: 64 },
  ),
  PIPELINE_THREAD_YOUNG_HEAP_MIB: count(
    'Part of the heap for new objects: a busy thread fills it, and rarely frees it',
    24,
    { unit: 'MiB', minimum: 3 },
  ),
  PIPELINE_THREAD_HEAP_FLOOR_MIB: count(
    'Heap of a thread below which the garbage collector does not mark it: a busy thread with a small heap would do so each second',
    128,
    { unit: 'MiB' },
  ),
};

export function readPoolSettings(env: Static<TObject<typeof poolEnv>>): PoolOptions {
  const machine = readMachine();
  const threads = env.PIPELINE_THREADS ?? fitToMachine(machine).threads;
  return {
    threads,
    heapMaxMib: env.PIPELINE_THREAD_HEAP_MIB ?? fitThreadHeap(machine, threads),
    youngHeapMaxMib: env.PIPELINE_THREAD_YOUNG_HEAP_MIB,
    heapFloorMib: env.PIPELINE_THREAD_HEAP_FLOOR_MIB,
  };
}
