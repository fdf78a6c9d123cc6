import { fitThreadHeap, fitToMachine, threadHeapRule, threadsRule } from '../../shared/runtime/fit-to-machine.ts';
import { readMachine } from '../../shared/runtime/machine.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { fittedCount } from '../../shared/runtime/variables.ts';

const threads = {
  PIPELINE_THREADS: fittedCount('Worker threads that resolvers and dispatchers are spread over', threadsRule, {
    maximum: 256,
  }),
};
const threadHeap = {
  PIPELINE_THREAD_HEAP_MIB: fittedCount(
    'JavaScript heap of one thread; a thread that exceeds it dies and is restarted',
    threadHeapRule,
    { unit: 'MiB', minimum: 64 },
  ),
};
const threadsOf = (given: number | undefined): number => given ?? fitToMachine(readMachine()).threads;

export const { variables: poolEnv, read: readPoolSettings } = defineSettings({
  threads: fromEnv(threads, (env) => threadsOf(env.PIPELINE_THREADS)),
  heapMaxMib: fromEnv(
    { ...threads, ...threadHeap },
    (env) => env.PIPELINE_THREAD_HEAP_MIB ?? fitThreadHeap(readMachine(), threadsOf(env.PIPELINE_THREADS)),
  ),
  /** Maximum size of the heap's part for new objects, in MiB. A busy thread fills it and rarely gives it back. */
  youngHeapMaxMib: 24,
  /**
   * The garbage collector does not mark a heap below this size, in MiB; otherwise it would mark a busy thread's heap
   * each second.
   */
  heapFloorMib: 128,
  /**
   * A thread reports every second. If it is silent for this long, in ms, it counts as hung: it is ended, and its actors
   * move to other threads. Time in which the thread waited for a processor, or the whole process was stopped, does not
   * count.
   */
  silenceMaxMs: 8_000,
});
