import { cpus } from 'node:os';
import type { CpuInfo } from 'node:os';
import { sleep } from './wait-until.ts';

const sampleMs = 1_000;
/** Fraction of core time that an idle system stays below. */
const quietShareMax = 0.1;

/** Fraction of core time in use, 0 to 1, sampled for a second in which the bench is idle. */
export async function measureOtherWork(): Promise<number> {
  const before = cpus();
  await sleep(sampleMs);
  return takenShare(before, cpus());
}

/** Fraction of core time that was used between two samples. */
export function takenShare(
  before: readonly Pick<CpuInfo, 'times'>[],
  after: readonly Pick<CpuInfo, 'times'>[],
): number {
  const [one, other] = [sumOf(before), sumOf(after)];
  const passed = other.all - one.all;
  return passed > 0 ? 1 - (other.idle - one.idle) / passed : 0;
}

function sumOf(cores: readonly Pick<CpuInfo, 'times'>[]): { readonly all: number; readonly idle: number } {
  const times = cores.map((core) => core.times);
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { all, idle: times.reduce((sum, { idle }) => sum + idle, 0) };
}

/** A warning about other work on the machine; undefined if there was little, or if a result has no such data. */
export function describeOtherWork(share: number | undefined): string | undefined {
  if (share === undefined || share <= quietShareMax) return undefined;
  return `other work took ${Math.round(share * 100)} % of the cores before the run: the figures reflect that more than the measured code`;
}
