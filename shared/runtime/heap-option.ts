import { defineEnv, EnvError } from './env.ts';
import type { VariableSource } from './env.ts';
import { fitToMachine, mainHeapRule } from './fit-to-machine.ts';
import { readMachine } from './machine.ts';
import { defineSettings, fromEnv } from './settings.ts';
import { fittedCount } from './variables.ts';

/** Heap limit of a main thread, in MiB. The launcher passes it to Node, since a running process cannot change it. */
export const { variables: heapEnv, read: readMainHeapMib } = defineSettings(
  fromEnv(
    {
      MAIN_HEAP_MIB: fittedCount(
        "JavaScript heap of a service's main thread. The service's launcher passes it to Node, unless NODE_OPTIONS contains --max-old-space-size",
        mainHeapRule,
        { unit: 'MiB', minimum: 64 },
      ),
    },
    (env) => env.MAIN_HEAP_MIB ?? fitToMachine(readMachine()).mainHeapMib,
  ),
);

/** Whether options of Node limit the heap of the main thread, and of worker threads without their own limit. */
export const givesHeap = (options: string | undefined): boolean =>
  /(^|\s)--max[-_]old[-_]space[-_]size/.test(options ?? '');

/**
 * Arguments of Node for a service with this environment; none if NODE_OPTIONS limits the heap. An invalid value counts
 * as absent here, because the service reports it together with all other problems.
 */
export function heapOptions(source: VariableSource): string[] {
  if (givesHeap(source['NODE_OPTIONS'])) return [];
  const { MAIN_HEAP_MIB, MAIN_HEAP_MIB_FILE } = source;
  return [`--max-old-space-size=${givenHeapMib({ MAIN_HEAP_MIB, MAIN_HEAP_MIB_FILE })}`];
}

const { read: readHeapEnv } = defineEnv(heapEnv);

function givenHeapMib(source: VariableSource): number {
  try {
    return readMainHeapMib(readHeapEnv(source));
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return readMainHeapMib({});
  }
}
