import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { selectCluster } from '../../../shared/visitors/alias-statements.ts';
import { holdForWriting } from '../../../shared/visitors/erasure-lock.ts';
import { isErasedSql } from '../../../shared/visitors/erasures.ts';
import type { Conversion, Exposure, ResultsBatch } from './results-batch.ts';
import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';
import { failureFields, isolateRefused } from '../worker/isolate-refused.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import type { ResultsContext } from './results-context.ts';

/**
 * Writes exposures of an account, at most one for each visitor and experiment, and returns how many were new. The
 * database keeps only a visitor's first exposure to an experiment, so repeated writes change nothing.
 */
function writeExposures(pool: Pool, accountId: string, exposures: readonly Exposure[]): Promise<number> {
  return write(pool, accountId, async (client) => {
    const { rowCount } = await client.query({
      name: 'write-experiment-exposures',
      text: exposuresStatement,
      values: [
        accountId,
        exposures.map(({ experimentId }) => experimentId),
        exposures.map(({ visitorId }) => visitorId),
        exposures.map(({ variantId }) => variantId),
        exposures.map(({ atMs }) => new Date(atMs).toISOString()),
        exposures.map(({ receivedAtMs }) => new Date(receivedAtMs).toISOString()),
      ],
    });
    return rowCount ?? 0;
  });
}

/**
 * Writes conversions in the same way, for visitors with an assignment: an assignment is stored before it is returned,
 * and so before any conversion. Whether a conversion came after the exposure is decided when results are read.
 */
function writeConversions(pool: Pool, accountId: string, conversions: readonly Conversion[]): Promise<number> {
  return write(pool, accountId, async (client) => {
    const { rowCount } = await client.query({
      name: 'write-experiment-conversions',
      text: conversionsStatement,
      values: [
        accountId,
        conversions.map(({ experimentId }) => experimentId),
        conversions.map(({ visitorId }) => visitorId),
        conversions.map(({ metric }) => metric),
        conversions.map(({ atMs }) => new Date(atMs).toISOString()),
        conversions.map(({ receivedAtMs }) => new Date(receivedAtMs).toISOString()),
      ],
    });
    return rowCount ?? 0;
  });
}

/**
 * Runs a write that stores nothing of erased visitors: an erasure waits for running writes, and each write checks for
 * earlier erasures.
 */
function write(pool: Pool, accountId: string, work: (client: PoolClient) => Promise<number>): Promise<number> {
  return inTransaction(pool, async (client) => {
    await holdForWriting(client, [accountId]);
    return work(client);
  });
}

// Rows that would change nothing are left out first: a conflict would lock them. Rows are sorted, so that concurrent
// writers do not deadlock. A session plans each statement once, perhaps while the tables are empty, and still uses that
// plan when the tables have millions of rows. So each condition is a `select … limit 1`, which PostgreSQL runs for one
// visitor at a time; an `exists` might become a join with all visitors of the account.
const notErased = `not ${isErasedSql('$1::uuid', 'k.visitor_id', 'k.received_at')}`;

const exposuresStatement = `
  insert into experiment_visitors as r (account_id, experiment_id, visitor_id, variant_id, exposed_at)
  select $1, k.experiment_id, k.visitor_id, k.variant_id, k.exposed_at
  from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
    as k (experiment_id, visitor_id, variant_id, exposed_at, received_at)
  where ${notErased} and (
    select true from experiment_visitors r
    where r.account_id = $1 and r.experiment_id = k.experiment_id and r.visitor_id = k.visitor_id
      and (r.exposed_at, r.variant_id collate "C") <= (k.exposed_at, k.variant_id collate "C")
    limit 1) is null
  order by k.experiment_id, k.visitor_id
  on conflict (account_id, experiment_id, visitor_id) do update
    set variant_id = excluded.variant_id, exposed_at = excluded.exposed_at
    where r.exposed_at is null
      or (excluded.exposed_at, excluded.variant_id collate "C") < (r.exposed_at, r.variant_id collate "C")`;

const conversionsStatement = `
  insert into experiment_visitors as r (account_id, experiment_id, visitor_id, metric, converted_at)
  select $1, k.experiment_id, k.visitor_id, k.metric, k.converted_at
  from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
    as k (experiment_id, visitor_id, metric, converted_at, received_at)
  where ${notErased} and (
    select true
    from (${selectCluster('$1::uuid', 'k.visitor_id')}) own
    cross join lateral (
      select from experiment_assignments a
      where a.account_id = $1 and a.visitor_id = own.id and a.experiment_id = k.experiment_id
      union all
      select from experiment_visitors e
      where e.account_id = $1 and e.experiment_id = k.experiment_id and e.visitor_id = own.id
      offset 0
    ) part
    limit 1)
    and (
      select true from experiment_visitors r
      where r.account_id = $1 and r.experiment_id = k.experiment_id and r.visitor_id = k.visitor_id
        and r.metric = k.metric and (r.converted_at >= k.converted_at or r.converted_at >= r.exposed_at)
      limit 1) is null
  order by k.experiment_id, k.visitor_id
  on conflict (account_id, experiment_id, visitor_id) do update
    set metric = excluded.metric, converted_at = excluded.converted_at
    where r.metric is distinct from excluded.metric or excluded.converted_at > r.converted_at`;

/** The fields of the counter's context that writing needs. */
type WriteContext = Pick<ResultsContext, 'accountId' | 'pool' | 'counts' | 'settings' | 'logger' | 'signal'>;

/** Writes a batch, with a bounded number of visitors per statement. Waits while the database is unavailable. */
export async function storeResults(context: WriteContext, batch: ResultsBatch): Promise<void> {
  const { pool, accountId, counts } = context;
  const { exposures, conversions } = batch;
  counts.events += exposures.length + conversions.length;
  await storeAll(context, exposures, (some) => writeExposures(pool, accountId, some));
  await storeAll(context, conversions, (some) => writeConversions(pool, accountId, some));
}

async function storeAll<Item>(
  { settings, counts, logger, signal, accountId }: WriteContext,
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
            if (isWorthTelling(attempt))
              logger.warn({ accountId, ...failureFields(error) }, 'writing experiment results failed; retrying');
          },
        });
      },
      (_item, error) => {
        counts.refused += 1;
        logger.warn({ accountId, ...failureFields(error) }, 'an event was skipped in the experiment results');
      },
    );
  }
}
