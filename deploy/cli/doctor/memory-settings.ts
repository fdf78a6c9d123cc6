import type { Static, TObject } from 'typebox';
import { commitEnv } from '../../../gateway/commit/commit-settings.ts';
import { gatewayHttpEnv } from '../../../gateway/http/http-settings.ts';
import { poolEnv, readPoolSettings } from '../../../pipeline/supervisor/pool-settings.ts';
import { hostEnv } from '../../../pipeline/threads/host-settings.ts';
import { dispatcherEnv } from '../../../pipeline/workers/dispatch/dispatcher-settings.ts';
import { resolverEnv } from '../../../pipeline/workers/resolve/resolver-settings.ts';
import type { MemoryUse } from '../../../shared/doctor/judge-memory.ts';
import { count } from '../../../shared/runtime/variables.ts';

/** Destinations of one pipeline that hold DISPATCH_BYTES_HELD_MAX at a time; all of a thread hold DISPATCH_FRAMES_BYTES_MAX. */
const busyDestinations = 8;
const none = { minimum: 0 } as const;

/** What memory is bounded by, of the services, and what of them runs on this machine. */
export const memoryEnv = {
  DOCTOR_GATEWAYS: count('Gateways of this machine, whose memory the doctor adds up', 1, none),
  DOCTOR_PIPELINES: count('Pipelines of this machine', 1, none),
  DOCTOR_CONTROL_PLANES: count('Control planes of this machine', 1, none),
  BODIES_BYTES_MAX: gatewayHttpEnv.BODIES_BYTES_MAX,
  QUEUE_BYTES_MAX: commitEnv.QUEUE_BYTES_MAX,
  ...poolEnv,
  PIPELINE_VISITOR_CACHE_BYTES_MAX: hostEnv.PIPELINE_VISITOR_CACHE_BYTES_MAX,
  RESOLVER_DEDUPLICATION_IDS_MAX: resolverEnv.RESOLVER_DEDUPLICATION_IDS_MAX,
  DISPATCH_BYTES_HELD_MAX: dispatcherEnv.DISPATCH_BYTES_HELD_MAX,
  DISPATCH_FRAMES_BYTES_MAX: hostEnv.DISPATCH_FRAMES_BYTES_MAX,
};

type MemoryVariables = Static<TObject<typeof memoryEnv>>;

/** `heapBytes`: of a main thread. */
type MemoryOf = { readonly heapBytes: number; readonly partitions: number };

const mebibyte = 1024 ** 2;
/** Code, stacks and what Node and the HTTP engine keep: what an idle service takes beside its heap. */
const nodeBytes = 64 * mebibyte;
/** As `HashSet` has it, when full. */
const deduplicationBytesAnId = 13;

/** What the services of this machine may take. */
export function serviceMemory(env: MemoryVariables, { heapBytes, partitions }: MemoryOf): MemoryUse[] {
  const main = [
    { what: 'heap', bytes: heapBytes },
    { what: 'of Node itself', bytes: nodeBytes },
  ];
  const { threads, heapMaxMib, youngHeapMaxMib } = readPoolSettings(env);
  const threadBytes = (heapMaxMib + youngHeapMaxMib) * mebibyte;
  const heldBytes = Math.min(busyDestinations * env.DISPATCH_BYTES_HELD_MAX, threads * env.DISPATCH_FRAMES_BYTES_MAX);
  const idsBytes = partitions * env.RESOLVER_DEDUPLICATION_IDS_MAX * deduplicationBytesAnId;
  return [
    {
      of: 'gateway',
      processes: env.DOCTOR_GATEWAYS,
      parts: [
        ...main,
        { what: 'bodies that arrive', bytes: env.BODIES_BYTES_MAX },
        { what: 'frames that wait', bytes: env.QUEUE_BYTES_MAX },
      ],
    },
    {
      of: 'pipeline',
      processes: env.DOCTOR_PIPELINES,
      parts: [
        ...main,
        { what: `heaps of ${threads} threads`, bytes: threads * threadBytes },
        { what: 'caches of visitors', bytes: threads * env.PIPELINE_VISITOR_CACHE_BYTES_MAX },
        { what: `ids of ${partitions} partitions`, bytes: idsBytes },
        { what: `frames for ${busyDestinations} destinations`, bytes: heldBytes },
      ],
    },
    { of: 'control plane', processes: env.DOCTOR_CONTROL_PLANES, parts: main },
  ];
}
