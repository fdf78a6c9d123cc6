import type { Pool } from 'pg';
import { every } from '../../../shared/runtime/every.ts';
import { addIdentityCounts, deleteOldIdentityCounts } from '../../../shared/visitors/identity-counts.ts';
import type { IdentityCount } from '../../../shared/visitors/identity-counts.ts';
import { failureFields } from '../worker/isolate-refused.ts';
import type { ResolverContext } from './resolver-context.ts';

const writeEveryMs = 2_000;
const deleteEveryMs = 600_000;

/** The table of the counts. */
export type IdentityStore = {
  write(counted: readonly IdentityCount[]): Promise<void>;
  deleteOld(): Promise<void>;
};

export const createIdentityStore = (pool: Pool): IdentityStore => ({
  write: (counted) => addIdentityCounts(pool, counted),
  deleteOld: () => deleteOldIdentityCounts(pool),
});

/** Writes figures of a resolver in the background. */
export type FigureWriter = {
  /** Writes the counts once more, and ends. */
  close(): Promise<void>;
};

/** Writes a resolver's counts of identifiers every two seconds. The resolver never waits for it. */
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
  const writing = every(writeEveryMs, write);
  // One resolver deletes for all.
  const deleting = partition === 0 ? every(deleteEveryMs, deleteOld, { atOnce: true }) : undefined;
  return {
    async close() {
      await Promise.all([writing.stop(), deleting?.stop()]);
      await write();
    },
  };
}
