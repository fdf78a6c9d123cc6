import { plainFigure } from '../result/figure.ts';
import { formatValue } from '../result/format-value.ts';
import type { Bar, Figure, ResultRow, ScenarioResult, Unit } from '../result/result.ts';
import type { FaultOptions, FaultOutcome, FaultRun } from './run-fault.ts';
import type { Delivered, Verdict } from './judge/judge.ts';

export type NamedOutcome = { readonly name: string; readonly outcome: FaultOutcome };

/**
 * The forbidden effects of faults, each totalled over all faults of a run. Where two destinations differ, the higher
 * count is used.
 */
export const faultBars: readonly Bar[] = [
  { id: 'lost', text: 'acknowledged events that never arrived', limit: 0, unit: 'count', ask: 'at-most' },
  { id: 'doubled', text: 'events that arrived under a second key', limit: 0, unit: 'count', ask: 'at-most' },
  { id: 'disordered', text: 'first deliveries out of order', limit: 0, unit: 'count', ask: 'at-most' },
  { id: 'invented', text: 'events that no visitor had sent', limit: 0, unit: 'count', ask: 'at-most' },
  {
    id: 'mixed',
    text: 'deliveries with properties of another event, or incomplete',
    limit: 0,
    unit: 'count',
    ask: 'at-most',
  },
  {
    id: 'afterStop',
    text: 'requests later than a second after a stop was live',
    limit: 0,
    unit: 'count',
    ask: 'at-most',
  },
  {
    id: 'afterErasure',
    text: 'events of an erased person, later than a second after the erasure',
    limit: 0,
    unit: 'count',
    ask: 'at-most',
  },
  {
    id: 'afterWithdrawal',
    text: 'events for a withdrawn purpose, later than a second after the withdrawal',
    limit: 0,
    unit: 'count',
    ask: 'at-most',
  },
  { id: 'broken', text: 'faults that broke a promise, or could not be run', limit: 0, unit: 'count', ask: 'at-most' },
];

/** Ways in which a run broke its guarantees, in words; empty if it passed. */
export function faultsOf(outcome: FaultOutcome): readonly string[] {
  switch (outcome.kind) {
    case 'skipped':
      return [];
    case 'failed':
      return [outcome.why];
    case 'ran': {
      const { verdict, stuck, problem } = outcome.run;
      const counted = [
        [worstOf(verdict, 'lost'), 'lost'],
        [worstOf(verdict, 'doubled'), 'doubled under another key'],
        [worstOf(verdict, 'disordered'), 'out of order'],
        [worstOf(verdict, 'invented'), 'that no visitor sent'],
        [worstOf(verdict, 'mixed'), 'with properties of another event, or incomplete'],
        [verdict.afterStop, 'sent after their destination was stopped'],
        [verdict.afterErasure, 'sent after their person was erased'],
        [verdict.afterWithdrawal, 'sent for a purpose whose consent was withdrawn'],
      ] as const;
      return [
        ...counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`),
        ...(Number.isNaN(verdict.firstAcknowledgementMs) ? ['nothing was acknowledged after the fault'] : []),
        ...(stuck === 0 ? [] : [`${stuck} arrived only after every process was killed and restarted`]),
        ...(problem === undefined ? [] : [problem]),
      ];
    }
  }
}

/** The table of a run of faults, one row per fault, with the limits that apply to all of them. */
export function resultOf(outcomes: readonly NamedOutcome[], options: FaultOptions): ScenarioResult {
  const ran = outcomes.flatMap(({ outcome }) => (outcome.kind === 'ran' ? [outcome.run] : []));
  const sum = (count: Count): number => ran.reduce((total, { verdict }) => total + worstOf(verdict, count), 0);
  return {
    settings: { ratePerS: options.ratePerS, seed: options.seed, syncInterval: 'always', destinations: 2 },
    rows: outcomes.map(({ name, outcome }) => rowOf(name, outcome)),
    measured:
      ran.length === 0
        ? {}
        : {
            lost: sum('lost'),
            doubled: sum('doubled'),
            disordered: sum('disordered'),
            invented: sum('invented'),
            mixed: sum('mixed'),
            afterStop: ran.reduce((total, { verdict }) => total + verdict.afterStop, 0),
            afterErasure: ran.reduce((total, { verdict }) => total + verdict.afterErasure, 0),
            afterWithdrawal: ran.reduce((total, { verdict }) => total + verdict.afterWithdrawal, 0),
            broken: outcomes.filter(({ outcome }) => faultsOf(outcome).length > 0).length,
          },
  };
}

/** Describes the outcome of a fault in one line. */
export function describeOutcome(outcome: FaultOutcome): string {
  if (outcome.kind !== 'ran') return `${outcome.kind}: ${outcome.why}`;
  const { verdict, peakMemoryBytes } = outcome.run;
  const mark = faultsOf(outcome).length === 0 ? '✓' : '✗';
  const counts = (['lost', 'repeated', 'doubled', 'disordered'] as const).map(
    (count) => `${worstOf(verdict, count)} ${count}`,
  );
  const firstDelivery = formatValue(verdict.firstDeliveryMs, 'ms');
  const refused = formatValue(refusedBy(verdict), 'count');
  const memory = formatValue(peakMemoryBytes, 'bytes');
  const [acknowledgement, everyVisitor] = [verdict.firstAcknowledgementMs, verdict.everyVisitorMs].map((ms) =>
    formatValue(ms, 'ms'),
  );
  return [
    `${mark} ${verdict.acknowledged} acknowledged, ${leastDelivered(verdict)} delivered, ${counts.join(', ')}, ${refused} refused`,
    `after the fault first 200 ${acknowledgement}, first delivery ${firstDelivery}, every visitor ${everyVisitor}; at most ${memory}`,
  ].join('; ');
}

/** The row of a fault; where two destinations differ, it has the worse value. */
export function rowOf(name: string, outcome: FaultOutcome): ResultRow {
  if (outcome.kind !== 'ran') return { name, figures: {}, note: `${outcome.kind}: ${outcome.why}` };
  const { verdict, peakMemoryBytes, drainMs }: FaultRun = outcome.run;
  const worst = (count: Count): Figure => figure('count', 'less', worstOf(verdict, count));
  const seconds = (ms: number): Figure => figure('s', 'less', ms / 1_000);
  return {
    name,
    figures: {
      acknowledged: figure('count', 'more', verdict.acknowledged),
      delivered: figure('count', 'more', leastDelivered(verdict)),
      lost: worst('lost'),
      repeated: worst('repeated'),
      doubled: worst('doubled'),
      'out of order': worst('disordered'),
      refused: figure('count', 'less', refusedBy(verdict)),
      silence: seconds(verdict.longestSilenceMs),
      'first 200': seconds(verdict.firstAcknowledgementMs),
      'first delivery': seconds(verdict.firstDeliveryMs),
      'every visitor': seconds(verdict.everyVisitorMs),
      'p99 to delivered': seconds(verdict.delayMs.p99),
      drained: seconds(drainMs),
      memory: figure('bytes', 'less', peakMemoryBytes),
    },
    note: [...faultsOf(outcome), ...remarksOn(outcome.run)].join('; '),
  };
}

function remarksOn({ verdict, remarks }: FaultRun): readonly string[] {
  const destroyed = worstOf(verdict, 'destroyed');
  const refused = Object.entries(verdict.refused).map(([kind, count]) => `${count} × ${kind}`);
  return [
    ...remarks,
    ...(destroyed === 0 ? [] : [`${destroyed} destroyed with the log, as expected`]),
    ...(refused.length === 0 ? [] : [`refused: ${refused.join(', ')}`]),
  ];
}

const refusedBy = ({ refused }: Verdict): number => Object.values(refused).reduce((total, count) => total + count, 0);

type Count = Exclude<keyof Delivered, 'examples' | 'delivered'>;

/** A count at the destination at which it is highest. */
const worstOf = ({ destinations }: Verdict, count: Count): number =>
  Math.max(0, ...Object.values(destinations).map((one) => one[count]));

const leastDelivered = ({ destinations }: Verdict): number =>
  Math.min(...Object.values(destinations).map(({ delivered }) => delivered));

const figure = (unit: Unit, better: Figure['better'], value: number): Figure => plainFigure(unit, better, [value]);
