import { fail } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';

/** A check. An error or a timeout of `run` becomes a finding. */
export type Check = {
  readonly about: string;
  /** Advice to the operator if `run` throws or times out. */
  readonly advice: string;
  run(): Promise<readonly Finding[]>;
};

/** Runs checks in parallel, each with a deadline of `deadlineMs`. Findings are in the order of the checks. */
export async function runChecks(checks: readonly Check[], deadlineMs: number): Promise<Finding[]> {
  return (await Promise.all(checks.map((check) => runOne(check, deadlineMs)))).flat();
}

async function runOne({ about, advice, run }: Check, deadlineMs: number): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const finding = fail(about, `no answer within ${deadlineMs} ms`, advice);
    timer = setTimeout(() => resolve([finding]), deadlineMs);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [fail(about, detail, advice)];
  } finally {
    clearTimeout(timer);
  }
}
