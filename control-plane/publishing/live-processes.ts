import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { createBucketMirror } from './bucket-mirror.ts';
import type { BucketMirror, MirroredEntry } from './bucket-mirror.ts';

export type LeaseMirror = BucketMirror<ProcessReport>;

/** What the gateways and pipelines alive report of themselves. */
export function createLeaseMirror(): LeaseMirror {
  return createBucketMirror('>', readReport);
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

function readReport(bytes: Uint8Array): ProcessReport | undefined {
  const report = parseJson(bytes);
  if (!isJsonObject(report) || typeof report['revision'] !== 'number') return undefined;
  return report as ProcessReport;
}

/** The value of JSON bytes; undefined when they are not JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
