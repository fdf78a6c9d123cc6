import { cpus } from 'node:os';
import type { CpuInfo } from 'node:os';
import { sleep } from './wait-until.ts';

const sampleMs = 1_000;
/** More than what an idle system does by itself. */
const quietShareMax = 0.1;

/** Share of all cores that is taken, from 0 to 1, looked at for a second in which the bench does nothing. */
export async function measureOtherWork(): Promise<number> {
  const before = cpus();
  await sleep(sampleMs);
  return takenShare(before, cpus());
}

/** Share of the time between two looks in which cores were not idle. */
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

/** What a reader is to know of a machine that was not quiet; undefined where it was, or where a result does not say. */
export function describeOtherWork(share: number | undefined): string | undefined {
  if (share === undefined || share <= quietShareMax) return undefined;
  return `other work took ${Math.round(share * 100)} % of the cores before it began: figures say more of that than of what was measured`;
}
