/** Use of a process's JavaScript heaps during a measurement, summed over all threads. */
export type GcUse = {
  readonly collections: number;
  /** Sum of the pauses of all threads, in ms. */
  readonly pauseMs: number;
  /** Bytes allocated on the heaps; memory outside the heaps (buffers) does not count. */
  readonly allocatedBytes: number;
};

export const noGcUse: GcUse = { collections: 0, pauseMs: 0, allocatedBytes: 0 };

export const addGcUse = (one: GcUse, other: GcUse): GcUse => ({
  collections: one.collections + other.collections,
  pauseMs: one.pauseMs + other.pauseMs,
  allocatedBytes: one.allocatedBytes + other.allocatedBytes,
});

export type GcOrder = { readonly kind: 'gc'; readonly ask: 'begin' | 'end' };
export type GcAnswer = { readonly kind: 'gc'; readonly use: GcUse };
