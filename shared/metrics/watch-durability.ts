import { readDurability } from '../doctor/read-durability.ts';
import type { Durability } from '../doctor/read-durability.ts';

/** What an acknowledged event survives, as it was last read. */
export type DurabilityWatch = { readonly mode: Durability['mode']; stop(): void };

// A server may come back with another configuration.
const everyMs = 60_000;

/** Reads it at once and again each minute; `unknown` until it was read. */
export function watchDurability(monitorUrls: string | undefined): DurabilityWatch {
  let mode: Durability['mode'] = 'unknown';
  const read = async (): Promise<void> => {
    ({ mode } = await readDurability(monitorUrls));
  };
  void read();
  const timer = setInterval(() => void read(), everyMs);
  timer.unref();
  return {
    get mode() {
      return mode;
    },
    stop: () => clearInterval(timer),
  };
}
