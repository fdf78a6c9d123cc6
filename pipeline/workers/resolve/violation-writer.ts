import { failureFields } from '../worker/isolate-refused.ts';
import { startFigureWriter } from './figure-writer.ts';
import type { FigureWriter } from './figure-writer.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { CountedViolation, ViolationStore } from './write-violations.ts';

export type { ViolationStore } from './write-violations.ts';

const writeEveryMs = 2_000;

/** Maximum number of groups of violations that are kept while the database is unavailable. */
const keptMax = 5_000;
const groupsPerStatement = 500;

type WriterContext = Pick<ResolverContext, 'partition' | 'plan' | 'counts' | 'logger'>;

/** Writes a resolver's violations every two seconds. */
export function startViolationWriter(
  { partition, plan: { violations }, counts, logger }: WriterContext,
  store: ViolationStore,
): FigureWriter {
  let kept: readonly CountedViolation[] = [];
  const write = async (): Promise<void> => {
    const taken = [...kept, ...violations.take()];
    if (taken.length === 0) return;
    kept = [];
    let written = 0;
    try {
      for (; written < taken.length; written += groupsPerStatement)
        await store.write(taken.slice(written, written + groupsPerStatement));
    } catch (error) {
      counts.violation_write_retries += 1;
      logger.warn(failureFields(error), 'writing violations of tracking plans failed');
      kept = taken.slice(written, written + keptMax);
      for (const { count } of taken.slice(written + keptMax)) counts.violations_skipped += count;
    }
  };
  const deleteOld = async (): Promise<void> => {
    try {
      await store.deleteOld();
    } catch (error) {
      logger.warn(failureFields(error), 'deleting old violations of tracking plans failed');
    }
  };
  return startFigureWriter({ everyMs: writeEveryMs, write, deleteOld: partition === 0 ? deleteOld : undefined });
}
