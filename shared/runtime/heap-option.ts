import { fitToMachine, mainHeapRule } from './fit-to-machine.ts';
import { readMachine } from './machine.ts';
import { defineSettings, fromEnv } from './settings.ts';
import { fittedCount } from './variables.ts';

/** Option that limits the heap of a main thread: the launcher passes it to Node, as it cannot be changed afterwards. */
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

/** Whether options of Node limit heaps: those of its threads as well, unless they set their own. */
export const givesHeap = (options: string | undefined): boolean =>
  /(^|\s)--max[-_]old[-_]space[-_]size/.test(options ?? '');

/** Arguments of Node for a service with this environment; none where NODE_OPTIONS has them. */
export function heapOptions(source: Readonly<Record<string, string | undefined>>): string[] {
  if (givesHeap(source['NODE_OPTIONS'])) return [];
  const given = source['MAIN_HEAP_MIB'] ?? '';
  // The service reports an invalid number, together with all other problems.
  const mib = /^\d+$/.test(given) ? Number(given) : readMainHeapMib({});
  return [`--max-old-space-size=${mib}`];
}
