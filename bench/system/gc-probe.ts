import { GCProfiler, getHeapStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';
import { followThreads } from './answering-threads.ts';
import type { GcAnswer, GcOrder, GcUse } from './gc-messages.ts';
import { addGcUse, noGcUse } from './gc-messages.ts';

// Loaded into every thread of a service: when the bench asks, measures allocations on the thread's heap and the cost of
// its garbage collections.

type FromMain = { readonly kind: 'begin' } | { readonly kind: 'end' };
type FromThread =
  | { readonly kind: 'here'; readonly thread: number }
  | { readonly kind: 'use'; readonly thread: number; readonly use: GcUse };

const channel = new BroadcastChannel('bench-gc');
channel.unref();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel between threads has no origins
const tell = (message: FromMain | FromThread): void => channel.postMessage(message);

function hear(take: (message: FromMain | FromThread) => void): void {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- its type here has no other way
  channel.onmessage = (event: unknown) => take((event as { readonly data: FromMain | FromThread }).data);
}

/** Threads that have not answered after this time are left out. */
const answersDeadlineMs = 2_000;
const pollMs = 5;

let profiler: GCProfiler | undefined;
let usedAtBegin = 0;

function begin(): void {
  profiler?.stop();
  profiler = new GCProfiler();
  profiler.start();
  usedAtBegin = getHeapStatistics().used_heap_size;
}

/**
 * Allocated bytes are the growth of the heap between collections; the bytes that a collection frees are not subtracted.
 */
function end(): GcUse {
  const found = profiler?.stop().statistics ?? [];
  profiler = undefined;
  let used = usedAtBegin;
  let allocatedBytes = 0;
  let pauseMicros = 0;
  for (const { beforeGC, afterGC, cost } of found) {
    allocatedBytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - used);
    used = afterGC.heapStatistics.usedHeapSize;
    pauseMicros += cost;
  }
  allocatedBytes += Math.max(0, getHeapStatistics().used_heap_size - used);
  return { collections: found.length, pauseMs: pauseMicros / 1_000, allocatedBytes };
}

if (isMainThread) {
  const threads = followThreads();
  const uses = new Map<number, GcUse>();
  hear((message) => {
    if (message.kind === 'here') threads.add(message.thread);
    else if (message.kind === 'use') uses.set(message.thread, message.use);
  });
  const endAll = async (): Promise<GcUse> => {
    uses.clear();
    tell({ kind: 'end' });
    const own = end();
    const untilMs = performance.now() + answersDeadlineMs;
    while (!threads.areAllOf(uses) && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    return [...uses.values()].reduce(addGcUse, addGcUse(noGcUse, own));
  };
  process.on('message', (order: GcOrder) => {
    if (order.kind !== 'gc') return;
    if (order.ask === 'begin') {
      tell({ kind: 'begin' });
      begin();
    } else {
      void endAll().then((use) => process.send?.({ kind: 'gc', use } satisfies GcAnswer));
    }
  });
  // Otherwise the listener would keep a service running that has finished its work.
  process.channel?.unref();
} else {
  hear((message) => {
    if (message.kind === 'begin') begin();
    else if (message.kind === 'end') tell({ kind: 'use', thread: threadId, use: end() });
  });
  tell({ kind: 'here', thread: threadId });
}
