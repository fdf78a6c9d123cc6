import { fail } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';

/** Something to look at. A check that throws, or takes longer than it may, is a finding as well. */
export type Check = {
  readonly about: string;
  /** What to do where it throws or does not end. */
  readonly advice: string;
  run(): Promise<readonly Finding[]>;
};

/** Runs the checks side by side, each with the deadline; their findings come in the order of the checks. */
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
