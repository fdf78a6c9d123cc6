/** What a process spent on its JavaScript heaps between two questions, all threads together. */
export type GcUse = {
  readonly collections: number;
  /** Time in which threads stood still for it, added up. */
  readonly pauseMs: number;
  /** Bytes put on the heaps. Memory outside of them (buffers) is not seen. */
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
