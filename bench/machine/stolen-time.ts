import { readFile } from 'node:fs/promises';

/** Fraction of core time that the host gave to other virtual machines although it was needed here, 0 to 1. */
export type StolenTime = {
  readonly share: number;
  /** The highest fraction in an interval of `stretchMs`. */
  readonly most: number;
};

const stretchMs = 5_000;
/** Below these limits, stolen time does not affect figures noticeably. */
const littleShare = 0.02;
const littleMost = 0.1;

/** Time of all cores since boot, in ticks; `stolen` is the stolen part. */
type CoreTime = { readonly all: number; readonly stolen: number };

/**
 * Starts to measure stolen time. The returned function ends the measurement and returns its result; undefined if the
 * system does not report it. https://docs.kernel.org/filesystems/proc.html, kernel statistics in /proc/stat
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

/** Stolen time between the first and the last sample, and its maximum between two consecutive samples. */
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

/**
 * The counted states: user nice system idle iowait irq softirq steal. The time of guests is included in the first two.
 */
const statesCounted = 8;

/** Reads the time of all cores from the text of /proc/stat; undefined if the text has no value. */
export function coreTimeOf(stat: string): CoreTime | undefined {
  const ticks = /^cpu +([\d ]+)$/m.exec(stat)?.[1]?.split(' ').map(Number).slice(0, statesCounted);
  if (ticks?.length !== statesCounted) return undefined;
  return { all: ticks.reduce((sum, each) => sum + each, 0), stolen: ticks.at(-1) ?? 0 };
}

/** A warning about stolen time; undefined if there was little, or if a result has no such data. */
export function describeStolenTime(stolen: StolenTime | undefined): string | undefined {
  if (stolen === undefined || (stolen.share <= littleShare && stolen.most <= littleMost)) return undefined;
  const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
  return `its host gave ${percent(stolen.share)} of its core time to others meanwhile, at most ${percent(stolen.most)} within ${stretchMs / 1_000} s`;
}
