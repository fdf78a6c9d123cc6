import { monitorUrls, readMonitor } from './read-monitor.ts';
import type { MonitorPage } from './read-monitor.ts';

/** Which failures an acknowledged event survives: see `readDurability`. `detail` is a sentence for the operator. */
export type Durability =
  /** Every write is on disk before it is acknowledged. */
  | { readonly mode: 'fsync'; readonly detail: string }
  /** A power cut may lose events acknowledged since the last flush, which was at most `flushEveryMs` ago. */
  | { readonly mode: 'interval'; readonly flushEveryMs: number; readonly detail: string }
  | { readonly mode: 'unknown'; readonly detail: string };

const nanosecondsPerMs = 1_000_000;
/** The default of nats-server. */
const defaultFlushEveryMs = 120_000;
const readTimeoutMs = 2_000;

/**
 * Asks the nats-servers whether they sync every write. Only their monitor ports report it, so `monitorUrlList` is the
 * value of NATS_MONITOR_URL: one address for each server of a cluster, comma separated. The weakest server decides.
 * Never throws: a server that does not answer counts as `unknown`.
 */
export async function readDurability(
  monitorUrlList: string | undefined,
  timeoutMs = readTimeoutMs,
): Promise<Durability> {
  const urls = monitorUrls(monitorUrlList);
  return weakestOf(await Promise.allSettled(urls.map((url) => readMonitor(url, timeoutMs))));
}

/** The weakest durability of all servers; a server that could not be read counts as `unknown`. */
export function weakestOf(pages: readonly PromiseSettledResult<MonitorPage>[]): Durability {
  if (pages.length === 0) {
    return { mode: 'unknown', detail: 'only the monitor port of nats-server shows this: set NATS_MONITOR_URL' };
  }
  return weakest(
    pages.map((page) => (page.status === 'fulfilled' ? durabilityOf(page.value) : unknownBecause(page.reason))),
  );
}

/** The durability that a server's monitor page shows. */
export function durabilityOf(page: MonitorPage): Durability {
  const { config } = page.jetstream;
  if (config === undefined) return { mode: 'unknown', detail: 'JetStream is not enabled on this server' };
  if (config.sync_always === true) return { mode: 'fsync', detail: 'every write is synced before it is acknowledged' };
  const given = config.sync_interval;
  const flushEveryMs = given === undefined ? defaultFlushEveryMs : given / nanosecondsPerMs;
  return {
    mode: 'interval',
    flushEveryMs,
    detail: `a power cut may lose up to ${flushEveryMs / 1_000} s of acknowledged events: set jetstream { sync_interval: always }`,
  };
}

/** The durability that promises least. */
export function weakest(found: readonly Durability[]): Durability {
  const rank = (one: Durability): number => {
    if (one.mode === 'interval') return one.flushEveryMs;
    return one.mode === 'unknown' ? 0 : -1;
  };
  return found.reduce((worst, one) => (rank(one) > rank(worst) ? one : worst));
}

function unknownBecause(error: unknown): Durability {
  return { mode: 'unknown', detail: error instanceof Error ? error.message : String(error) };
}
