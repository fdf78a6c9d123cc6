import type { Pool } from 'pg';
import { addIdentityCounts, deleteOldIdentityCounts } from '../../../shared/visitors/identity-counts.ts';
import type { IdentityCount } from '../../../shared/visitors/identity-counts.ts';
import { failureFields } from '../worker/isolate-refused.ts';
import { startFigureWriter } from './figure-writer.ts';
import type { FigureWriter } from './figure-writer.ts';
import type { ResolverContext } from './resolver-context.ts';

const writeEveryMs = 2_000;

/** The database table that counts identifiers that were not given to a visitor. */
export type IdentityStore = {
  write(counted: readonly IdentityCount[]): Promise<void>;
  deleteOld(): Promise<void>;
};

export const createIdentityStore = (pool: Pool): IdentityStore => ({
  write: (counted) => addIdentityCounts(pool, counted),
  deleteOld: () => deleteOldIdentityCounts(pool),
});

/** Writes a resolver's counts of identifiers every two seconds. */
export function startIdentityWriter(
  { partition, identity, counts, logger }: Pick<ResolverContext, 'partition' | 'identity' | 'counts' | 'logger'>,
  store: IdentityStore,
): FigureWriter {
  const write = async (): Promise<void> => {
    const taken = identity.take();
    if (taken.length === 0) return;
    try {
      await store.write(taken);
    } catch (error) {
      counts.identity_write_retries += 1;
      logger.warn(failureFields(error), 'writing counts of identifiers failed');
      identity.keep(taken);
    }
    counts.identity_counts_skipped = identity.skipped;
  };
  const deleteOld = async (): Promise<void> => {
    try {
      await store.deleteOld();
    } catch (error) {
      logger.warn(failureFields(error), 'deleting old counts of identifiers failed');
    }
  };
  return startFigureWriter({ everyMs: writeEveryMs, write, deleteOld: partition === 0 ? deleteOld : undefined });
}
