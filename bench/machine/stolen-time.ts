import { readFile } from 'node:fs/promises';

/** Time in which cores were wanted here and the host of this virtual machine gave them to others, of all their time, 0 to 1. */
export type StolenTime = {
  readonly share: number;
  /** In the worst stretch of `stretchMs`. */
  readonly most: number;
};

const stretchMs = 5_000;
/** What of that moves no figure by much. */
const littleShare = 0.02;
const littleMost = 0.1;

/** Time of all cores since the machine began, in ticks. */
type CoreTime = { readonly all: number; readonly stolen: number };

/**
 * Watches from now on how much is stolen. What it returns ends that and says it: undefined where the system does not tell.
 * https://docs.kernel.org/filesystems/proc.html, kernel statistics in /proc/stat
 */
export function watchStolenTime(): () => Promise<StolenTime | undefined> {
  const looks: Promise<CoreTime | undefined>[] = [];
  const look = (): void => void looks.push(readCoreTime());
  look();
  const timer = setInterval(look, stretchMs);
  return async () => {
    clearInterval(timer);
    look();
    return stolenTime((await Promise.all(looks)).filter((found) => found !== undefined));
  };
}

/** What was stolen between the first and the last look, and at most between two that follow each other. */
export function stolenTime(looks: readonly CoreTime[]): StolenTime | undefined {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined || looks.length < 2) return undefined;
  const stretches = looks.slice(1).map((look, index) => shareBetween(looks[index] ?? first, look));
  return { share: shareBetween(first, last), most: Math.max(...stretches) };
}

function shareBetween(before: CoreTime, after: CoreTime): number {
  const passed = after.all - before.all;
  return passed > 0 ? (after.stolen - before.stolen) / passed : 0;
}

async function readCoreTime(): Promise<CoreTime | undefined> {
  return coreTimeOf(await readFile('/proc/stat', 'utf8').catch(() => ''));
}

/** user nice system idle iowait irq softirq steal: time of guests is part of the first two. */
const statesCounted = 8;

/** Of the text of /proc/stat; undefined where it does not say. */
export function coreTimeOf(stat: string): CoreTime | undefined {
  const ticks = /^cpu +([\d ]+)$/m.exec(stat)?.[1]?.split(' ').map(Number).slice(0, statesCounted);
  if (ticks?.length !== statesCounted) return undefined;
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks.at(-1) ?? 0 };
}

/** What a reader is to know of it; undefined where there was little, or where a result does not say. */
export function describeStolenTime(stolen: StolenTime | undefined): string | undefined {
  if (stolen === undefined || (stolen.share <= littleShare && stolen.most <= littleMost)) return undefined;
  const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  return `its host kept ${percent(stolen.share)} of its cores for others meanwhile, ${percent(stolen.most)} at most within ${stretchMs / 1_000} s`;
}
