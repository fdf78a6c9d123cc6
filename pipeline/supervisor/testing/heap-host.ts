import { getHeapStatistics } from 'node:v8';

/** Not a host: reports the heap limit of its thread, in bytes. */
export const runHost = (): number => getHeapStatistics().heap_size_limit;
