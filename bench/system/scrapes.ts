import { processCpuMs } from '../machine/process-use.ts';
import type { Service } from './services.ts';
import { sleep } from '../machine/wait-until.ts';

/** One look at the metrics of a service. */
export type Scrape = { readonly tookMs: number; readonly bytes: number; readonly series: number };

const deadlineMs = 10_000;
/** Between scrapes that measure CPU: time enough for whatever a scrape leaves behind. */
const pauseMs = 50;

/** Reads the whole page, as Prometheus does. */
export async function scrape({ metricsUrl }: Pick<Service, 'metricsUrl'>): Promise<Scrape> {
  const startedMs = performance.now();
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(deadlineMs) });
  const text = await answer.text();
  const tookMs = performance.now() - startedMs;
  if (!answer.ok) throw new Error(`scraping ${metricsUrl}: ${answer.status} ${text}`);
  return { tookMs, bytes: Buffer.byteLength(text), series: text.match(/^[^#\n]/gm)?.length ?? 0 };
}

/** Scrapes all services at once, again and again, until it is stopped; says what each took, in the order given. */
export function startScrapes(
  services: readonly Service[],
  everyMs: number,
): { stop(): Promise<readonly (readonly Scrape[])[]> } {
  const found = services.map((): Scrape[] => []);
  const stopping = new AbortController();
  const running = (async () => {
    for (let dueMs = performance.now(); !stopping.signal.aborted; dueMs += everyMs) {
      await Promise.all(services.map(async (service, at) => void found[at]?.push(await scrape(service))));
      while (!stopping.signal.aborted && performance.now() < dueMs + everyMs) await sleep(pauseMs);
    }
  })();
  // `stop` throws the failure; the load goes on until then.
  running.catch(() => undefined);
  return {
    async stop() {
      stopping.abort();
      await running;
      return found;
    },
  };
}

/** CPU a scrape costs a service, in ms: what it uses while it is scraped, less what it uses anyway. */
export async function scrapeCpuMs(service: Service, scrapes: number): Promise<number> {
  const using = async (work: () => Promise<unknown>): Promise<{ cpuMs: number; wallMs: number }> => {
    const [startedMs, beforeMs] = [performance.now(), await processCpuMs(service.pid)];
    await work();
    return { cpuMs: (await processCpuMs(service.pid)) - beforeMs, wallMs: performance.now() - startedMs };
  };
  const idle = await using(() => sleep(scrapes * pauseMs));
  const scraped = await using(async () => {
    for (let index = 0; index < scrapes; index += 1) {
      await scrape(service);
      await sleep(pauseMs);
    }
  });
  return Math.max(0, scraped.cpuMs - (idle.cpuMs / idle.wallMs) * scraped.wallMs) / scrapes;
}
