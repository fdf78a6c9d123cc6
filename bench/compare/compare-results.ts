import { meanOf } from '../result/figure.ts';
import type { Figure, Unit } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { ratioInterval } from './bootstrap.ts';
import type { Interval } from './bootstrap.ts';
import { createRandom } from './random.ts';

export type Verdict = 'better' | 'worse' | 'same' | 'unknown';

/** One figure of one subject in both results. */
export type Comparison = {
  readonly subject: string;
  readonly figure: string;
  readonly unit: Unit;
  readonly before: number;
  readonly after: number;
  /** Of after / before; undefined where there are too few readings. */
  readonly interval: Interval | undefined;
  readonly verdict: Verdict;
};

export type CompareOptions = {
  readonly resamples: number;
  readonly confidence: number;
  /** Changes smaller than this share are noise whatever the interval says: 0.02 is 2 %. */
  readonly leastChange: number;
  readonly seed: number;
};

export const compareDefaults: CompareOptions = { resamples: 4_000, confidence: 0.95, leastChange: 0.02, seed: 1 };

/** Every figure that both results have. */
export function compareResults(
  before: StoredResult,
  after: StoredResult,
  options: CompareOptions = compareDefaults,
): Comparison[] {
  const random = createRandom(options.seed);
  return before.rows.flatMap((row) => {
    const other = after.rows.find(({ name }) => name === row.name);
    if (other === undefined) return [];
    return Object.entries(row.figures).flatMap(([name, figure]) => {
      const changed = other.figures[name];
      if (changed === undefined) return [];
      const interval = ratioInterval(figure.rounds, changed.rounds, { ...options, random });
      return [
        {
          subject: row.name,
          figure: name,
          unit: figure.unit,
          before: meanOfRounds(figure),
          after: meanOfRounds(changed),
          interval,
          verdict: judge(figure.better, interval, options.leastChange),
        },
      ];
    });
  });
}

/** Worse or better only where the whole interval lies on that side, by more than the least change that counts. */
export function judge(better: Figure['better'], interval: Interval | undefined, leastChange: number): Verdict {
  if (interval === undefined) return 'unknown';
  const isHigher = interval.low > 1 + leastChange;
  const isLower = interval.high < 1 - leastChange;
  if (!isHigher && !isLower) return 'same';
  return isHigher === (better === 'more') ? 'better' : 'worse';
}

/** What keeps two results from being comparable: differences a reader has to know of. */
export function differencesOf(before: StoredResult, after: StoredResult): string[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['scenario', before.scenario, after.scenario],
    ['cpu', before.machine.cpu, after.machine.cpu],
    ['cores', before.machine.cores, after.machine.cores],
    ['node', before.machine.node, after.machine.node],
    ['nats-server', before.machine.natsServer, after.machine.natsServer],
    ['quick', before.isQuick, after.isQuick],
    ['settings', JSON.stringify(before.settings), JSON.stringify(after.settings)],
  ];
  return pairs
    .filter(([, one, other]) => one !== other)
    .map(([name, one, other]) => `${name}: ${String(one)} against ${String(other)}`);
}

const meanOfRounds = ({ rounds }: Figure): number =>
  meanOf(rounds.map((round) => meanOf(round.filter(Number.isFinite))).filter(Number.isFinite));
