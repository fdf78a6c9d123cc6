import { getHeapStatistics } from 'node:v8';

/** Not a host: says what its thread may put on its heap, in bytes. */
export const runHost = (): number => getHeapStatistics().heap_size_limit;
