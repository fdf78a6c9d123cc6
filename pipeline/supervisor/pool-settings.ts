import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';
import type { PoolOptions } from './pool.ts';

export const poolEnv = {
  PIPELINE_THREADS: count('Worker threads that resolvers and dispatchers are spread over', 2, { maximum: 256 }),
  PIPELINE_THREAD_SILENT_MS: count(
    'A thread that has not reported for so long, as it does every second, hangs: it is ended, and its actors go to others. Time in which it waited for a processor, or the whole process stood still, does not count',
    8_000,
    { unit: 'ms', minimum: 5_000 },
  ),
  PIPELINE_THREAD_HEAP_MIB: count('JavaScript heap of one thread: one that outgrows it dies and is restarted', 1_024, {
    unit: 'MiB',
    minimum: 64,
  }),
  PIPELINE_THREAD_YOUNG_HEAP_MIB: count(
    'The part of it for new objects: filled whenever a thread is busy, and rarely given back',
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
  return {
    threads: env.PIPELINE_THREADS,
    heapMaxMib: env.PIPELINE_THREAD_HEAP_MIB,
    youngHeapMaxMib: env.PIPELINE_THREAD_YOUNG_HEAP_MIB,
    heapFloorMib: env.PIPELINE_THREAD_HEAP_FLOOR_MIB,
  };
}
