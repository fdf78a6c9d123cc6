import { failureFields } from '../worker/failure-fields.ts';
import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';
import { isolateRefused } from '../worker/isolate-refused.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import type { ResultsBatch } from './results-batch.ts';
import type { ResultsContext } from './results-context.ts';
import { writeConversions, writeExposures } from './write-results.ts';

/** Writes a batch, a bounded number of visitors a statement. Waits as long as the database is away. */
export async function storeResults(context: ResultsContext, batch: ResultsBatch): Promise<void> {
  const { pool, accountId, counts } = context;
  const { exposures, conversions } = batch;
  counts.events += exposures.length + conversions.length;
  await storeAll(context, exposures, (some) => writeExposures(pool, accountId, some));
  await storeAll(context, conversions, (some) => writeConversions(pool, accountId, some));
}

async function storeAll<Item>(
  { settings, counts, logger, signal, accountId }: ResultsContext,
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<number>,
): Promise<void> {
  for (let start = 0; start < items.length; start += settings.rowsPerWrite) {
    await isolateRefused(
      items.slice(start, start + settings.rowsPerWrite),
      async (some) => {
        counts.changes += await retry(() => write(some), {
          signal,
          isPassing: (error) => !isRefusedValue(error),
          onRetry: (error, attempt) => {
            counts.write_retries += 1;
            if (attempt === 3)
              logger.warn({ accountId, ...failureFields(error) }, 'results cannot be written, retrying');
          },
        });
      },
      (_item, error) => {
        counts.refused += 1;
        logger.warn({ accountId, ...failureFields(error) }, 'an event was left out of the results');
      },
    );
  }
}
