import type { Static, TObject } from 'typebox';
import { commitEnv } from '../../../gateway/commit/commit-settings.ts';
import { gatewayHttpEnv } from '../../../gateway/http/http-settings.ts';
import { poolEnv, readPoolSettings } from '../../../pipeline/supervisor/pool-settings.ts';
import { hostEnv } from '../../../pipeline/threads/host-settings.ts';
import { framesBytes, heldFraction } from '../../../pipeline/workers/dispatch/dispatcher-settings.ts';
import { resolverEnv } from '../../../pipeline/workers/resolve/resolver-settings.ts';
import type { MemoryUse } from '../../../shared/doctor/judge-memory.ts';

/**
 * Assumed number of destinations of a pipeline that use their full limit at the same time. The destinations of one
 * thread share DISPATCH_FRAMES_BYTES_MAX.
 */
const busyDestinations = 8;

/** Number of processes of each service on a machine. */
export type ServiceCounts = Readonly<Record<'gateways' | 'pipelines' | 'controlPlanes', number>>;

export const oneOfEach: ServiceCounts = { gateways: 1, pipelines: 1, controlPlanes: 1 };

/** Variables that limit the memory of services; the doctor sums them. */
export const memoryEnv = {
  BODIES_BYTES_MAX: gatewayHttpEnv.BODIES_BYTES_MAX,
  QUEUE_BYTES_MAX: commitEnv.QUEUE_BYTES_MAX,
  ...poolEnv,
  PIPELINE_VISITOR_CACHE_BYTES_MAX: hostEnv.PIPELINE_VISITOR_CACHE_BYTES_MAX,
  RESOLVER_DEDUPLICATION_IDS_MAX: resolverEnv.RESOLVER_DEDUPLICATION_IDS_MAX,
  ...framesBytes,
};

type MemoryVariables = Static<TObject<typeof memoryEnv>>;

/** `heapBytes` is the heap limit of a main thread. */
type MemoryOf = { readonly heapBytes: number; readonly partitions: number };

const mebibyte = 1024 ** 2;
/** Memory of an idle service outside of its heap: code, stacks and the overhead of Node and the HTTP engine. */
const nodeBytes = 64 * mebibyte;
/** Bytes per id of a full `HashSet`. */
const deduplicationBytesAnId = 13;

/** The memory that the settings allow to each service on a machine, part by part. */
export function serviceMemory(
  env: MemoryVariables,
  { heapBytes, partitions }: MemoryOf,
  counts: ServiceCounts = oneOfEach,
): MemoryUse[] {
  const main = [
    { what: 'heap', bytes: heapBytes },
    { what: 'of Node itself', bytes: nodeBytes },
  ];
  const { threads, heapMaxMib, youngHeapMaxMib } = readPoolSettings(env);
  const threadBytes = (heapMaxMib + youngHeapMaxMib) * mebibyte;
  const heldBytes = Math.min(busyDestinations * heldFraction, threads) * env.DISPATCH_FRAMES_BYTES_MAX;
  const idsBytes = partitions * env.RESOLVER_DEDUPLICATION_IDS_MAX * deduplicationBytesAnId;
  return [
    {
      of: 'gateway',
      processes: counts.gateways,
      parts: [
        ...main,
        { what: 'bodies that arrive', bytes: env.BODIES_BYTES_MAX },
        { what: 'frames that wait', bytes: env.QUEUE_BYTES_MAX },
      ],
    },
    {
      of: 'pipeline',
      processes: counts.pipelines,
      parts: [
        ...main,
        { what: `heaps of ${threads} threads`, bytes: threads * threadBytes },
        { what: 'caches of visitors', bytes: threads * env.PIPELINE_VISITOR_CACHE_BYTES_MAX },
        { what: `ids of ${partitions} partitions`, bytes: idsBytes },
        { what: `frames for ${busyDestinations} destinations`, bytes: heldBytes },
      ],
    },
    { of: 'control plane', processes: counts.controlPlanes, parts: main },
  ];
}
