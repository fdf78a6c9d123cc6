import type { GcWatch } from '../system/gc-watch.ts';
import { watchGc } from '../system/gc-watch.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { runLoad } from './load-process.ts';
import type { LoadOrder } from './load-process.ts';
import type { LoadWindow } from './load-recorder.ts';
import type { LoadResult } from './load-result.ts';

export type WatchedLoad = { readonly load: LoadResult; readonly gc: GcWatch | undefined };

/** Generates load and samples the services' heaps from the end of the warm-up. */
export async function runWatchedLoad(
  stage: Stage,
  services: readonly Service[],
  order: Omit<LoadOrder, 'sequenceFrom'>,
  { perAnswer = 1, onWindow }: { readonly perAnswer?: number; onWindow?(window: LoadWindow): void } = {},
): Promise<WatchedLoad> {
  let watching = watchGc([]);
  const load = await runLoad(stage, order, onWindow, () => {
    watching = watchGc(services);
  });
  return { load, gc: await watching.end(load.answers * perAnswer) };
}
