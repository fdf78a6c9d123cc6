import { decodeReport, leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { createBucketMirror } from './bucket-mirror.ts';
import type { BucketMirror, MirroredEntry } from './bucket-mirror.ts';

export type LeaseMirror = BucketMirror<ProcessReport>;

/** What the gateways and pipelines alive report of themselves. */
export function createLeaseMirror(): LeaseMirror {
  return createBucketMirror('>', decodeReport);
}

/** Processes that hold a lease and do not run `revision` yet. */
export function processesBehind(
  entries: ReadonlyMap<string, MirroredEntry<ProcessReport>>,
  revision: number,
  nowMs: number,
): string[] {
  return [...entries]
    .filter(([, { value, heardAtMs }]) => nowMs - heardAtMs < leaseTtlMs && value.revision < revision)
    .map(([key]) => key);
}
