import { readMetrics } from './metrics-page.ts';
import type { Service } from './services.ts';

/** Events that a resolver could not take were never delivered, and a rate that counts on them is worth nothing. */
export async function assertNoneRefused(pipeline: Service): Promise<void> {
  const refused = (await readMetrics(pipeline.metricsUrl)).sum('sluice_resolver_dead_letters_total');
  if (refused > 0) throw new Error(`the resolvers could not take ${refused} events: see the pipeline's log`);
}
