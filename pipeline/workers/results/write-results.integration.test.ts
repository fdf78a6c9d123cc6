import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { rowsLookedAt } from '../../../shared/testing/rows-looked-at.ts';
import { createTestDatabase } from '../../../shared/testing/servers.ts';
import { openTestPool } from '../../../shared/testing/test-pool.ts';
import { ResultsBatch } from './results-batch.ts';
import { createResultsCounts } from './results-context.ts';
import { resultsSettings } from './results-settings.ts';
import { storeResults } from './write-results.ts';

test('results: statements planned while the tables are empty read no unrelated rows once the tables are full', async () => {
  const database = await createTestDatabase();
  await migrate(database.url);
  const pool = openTestPool(database.url, 1);
  try {
    const account = randomUUID();
    const [experimentId, metric] = ['experiment', 'Purchase'];
    const context = {
      accountId: account,
      pool,
      counts: createResultsCounts(),
      settings: resultsSettings,
      logger: pino({ level: 'silent' }),
      signal: new AbortController().signal,
    };
    const batch = new ResultsBatch();
    batch.addExposure({ experimentId, visitorId: 'first', variantId: 'a', atMs: 1, receivedAtMs: 1 });
    batch.addConversion({ experimentId, visitorId: 'first', metric, atMs: 2, receivedAtMs: 2 });
    await storeResults(context, batch);
    expect(context.counts).toMatchObject({ changes: 2, refused: 0 });
    const fill = (sql: string): Promise<unknown> => pool.query(`${sql} from generate_series(1, 2000) n`, [account]);
    await fill(`insert into visitors (account_id, id) select $1, 'v-' || n`);
    await fill(`insert into visitors (account_id, id, merged_into) select $1, 'alias-' || n, 'v-1'`);
    await fill(`insert into experiment_assignments select $1, 'v-' || n, '${experimentId}', 'a'`);
    await fill(`insert into experiment_visitors (account_id, visitor_id, experiment_id, variant_id, exposed_at)
      select $1, 'v-' || n, '${experimentId}', 'a', now()`);
    await pool.query(
      `insert into erasures (account_id, hash, erased_at)
        select $1, sha256(n::text::bytea), now() from generate_series(1, 2000) n`,
      [account],
    );
    const asked = `'${account}', '{${experimentId},${experimentId}}', '{v-7,new}'`;
    const at = `'{2020-01-01,2020-01-01}'`;
    for (const statement of [
      `"write-experiment-exposures"(${asked}, '{a,a}', ${at}, ${at})`,
      `"write-experiment-conversions"(${asked}, '{${metric},${metric}}', ${at}, ${at})`,
    ]) {
      expect([statement, await rowsLookedAt(pool, statement)]).toEqual([statement, expect.toSatisfy(isFew)]);
    }
  } finally {
    await pool.end();
    await database.drop();
  }
});

const isFew = (rows: number): boolean => rows < 30;
