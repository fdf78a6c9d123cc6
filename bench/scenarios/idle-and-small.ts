import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadResult } from '../load/load-result.ts';
import { processCpuMs } from '../machine/process-use.ts';
import { sleep } from '../machine/wait-until.ts';
import { startBareUws } from '../peers/peers.ts';
import { medianOf, plainFigure } from '../result/figure.ts';
import type { Bar, Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { measureWork } from '../whole-path/measure-work.ts';
import type { MeasuredWork } from '../whole-path/measure-work.ts';
import { openWorkMeter, workCounts } from '../whole-path/read-work.ts';
import type { WorkCount } from '../whole-path/read-work.ts';
import { startWholeStack } from '../whole-path/whole-stack.ts';

/** A rate, with its limits: cores in use by all processes together, and CPU time per event. */
type Subject = { readonly ratePerS: number; readonly shareMax: number; readonly eventMsMax?: number };

const subjects: readonly Subject[] = [
  { ratePerS: 0, shareMax: 0.02 },
  { ratePerS: 50, shareMax: 0.08, eventMsMax: 1.5 },
  { ratePerS: 250, shareMax: 0.18, eventMsMax: 0.7 },
  { ratePerS: 1_000, shareMax: 0.4, eventMsMax: 0.4 },
];
/**
 * Load after which code is compiled, as in an installation that has run for an hour. After only 8 s at 1,000/s,
 * compiler threads still used a fifth of the CPU at 50/s for another minute.
 */
const compiledAfter = { ratePerS: 2_000, seconds: 25 };
/** Wait before the idle measurement, so that work caused by the start and the load has ended. */
const quietSecondsOf = ({ isQuick }: Pick<ScenarioContext, 'isQuick'>): number => (isQuick ? 2 : 45);

const titles: Readonly<Record<WorkCount, string>> = {
  messagesIn: 'messages in',
  messagesOut: 'out',
  stored: 'stored',
  walSyncs: 'WAL syncs',
  transactions: 'transactions',
  flushes: 'disk flushes',
};
const nameOf = (ratePerS: number): string =>
  ratePerS === 0 ? 'idle' : `${ratePerS.toLocaleString('en-US')} single events/s`;

/**
 * Limits per event at 50/s, as counts, which do not depend on the machine. A frame in both logs is eight messages: it
 * is published, answered, handed out and acknowledged twice. At 50/s nearly every event has a separate frame, because a
 * single event never waits for others. Fewer than eight messages per event would require larger frames, and thus a
 * delay.
 */
const countedAtRate = 50;
const countLimits = [
  { id: 'messages', text: 'messages in and out of the log', of: ['messagesIn', 'messagesOut'], limit: 4 },
  { id: 'stored', text: 'messages stored', of: ['stored'], limit: 2 },
  { id: 'transactions', text: 'transactions of PostgreSQL', of: ['transactions'], limit: 0.3 },
  { id: 'flushes', text: 'disk flushes', of: ['flushes'], limit: 2 },
] as const satisfies readonly {
  readonly id: string;
  readonly text: string;
  readonly of: readonly WorkCount[];
  readonly limit: number;
}[];

const bars: readonly Bar[] = [
  ...subjects.flatMap(({ ratePerS, shareMax, eventMsMax }): Bar[] => [
    {
      id: `share-${ratePerS}`,
      text: `cores in use, ${nameOf(ratePerS)}`,
      limit: shareMax,
      unit: 'ratio',
      ask: 'at-most',
    },
    ...(eventMsMax === undefined
      ? []
      : [
          {
            id: `event-${ratePerS}`,
            text: `CPU an event, ${nameOf(ratePerS)}`,
            limit: eventMsMax,
            unit: 'ms',
            ask: 'at-most',
          } as const,
        ]),
  ]),
  { id: 'p50', text: 'event to delivered, median at the worst of these rates', limit: 10, unit: 'ms', ask: 'at-most' },
  { id: 'p99', text: 'event to delivered, p99 at the worst of these rates', limit: 50, unit: 'ms', ask: 'at-most' },
  ...countLimits.map(({ id, text, limit }): Bar => ({
    id,
    text: `${text}, an event, ${nameOf(countedAtRate)}`,
    limit,
    unit: 'ratio',
    ask: 'at-most',
  })),
];

/** CPU use of the whole stack, and its CPU time per event, at the rates of most installations. */
export const idleAndSmall: Scenario = {
  name: 'idle-and-small',
  summary:
    'the whole stack idle and at 50 to 1,000 single events/s: CPU by process, messages, syncs and transactions per event',
  usual: { seconds: 15 },
  bars,
  async run(context) {
    const measured = new Map<Subject, MeasuredWork[]>(subjects.map((subject) => [subject, []]));
    const bare = new Map<Subject, number[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      await measureRound(context, round, measured);
      await measureBare(context, round, bare);
    }
    const rows = subjects.map((subject) => rowOf(subject, measured.get(subject) ?? [], bare.get(subject) ?? []));
    const counted = rows[subjects.findIndex(({ ratePerS }) => ratePerS === countedAtRate)]?.figures;
    // NaN if a rate was not measured, because that rate might have been the worst.
    const worstOf = (figure: string): number =>
      Math.max(...rows.slice(1).map(({ figures }) => figures[figure]?.value ?? Number.NaN));
    return {
      settings: {
        compiledAfter,
        quietSeconds: quietSecondsOf(context),
        syncInterval: 'always',
        counted: {
          'messages in, out': 'in_msgs and out_msgs of nats-server',
          stored: 'sequences of its streams and buckets, each synced',
          'WAL syncs': 'pg_stat_wal.wal_sync',
          transactions: 'pg_stat_database, all databases; a single statement is one',
          'disk flushes': 'flushes of the whole disk, /proc/diskstats',
        },
      },
      rows,
      measured: {
        ...Object.fromEntries(
          subjects.flatMap(({ ratePerS }, at) => {
            const { 'of a core': share, 'CPU an event': event } = rows[at]?.figures ?? {};
            return [
              [`share-${ratePerS}`, share?.value ?? Number.NaN],
              ...(ratePerS === 0 ? [] : [[`event-${ratePerS}`, event?.value ?? Number.NaN]]),
            ];
          }),
        ),
        p50: worstOf('p50'),
        p99: worstOf('p99'),
        ...Object.fromEntries(
          countLimits.map(({ id, of }) => [
            id,
            of.reduce((sum, count) => sum + (counted?.[titles[count]]?.value ?? Number.NaN), 0),
          ]),
        ),
      },
    };
  },
};

function measureRound(
  context: ScenarioContext,
  round: number,
  measured: ReadonlyMap<Subject, MeasuredWork[]>,
): Promise<void> {
  const { seconds, warmUpSeconds, progress } = context;
  const quietSeconds = quietSecondsOf(context);
  return context.stage.scoped(async (stage) => {
    const stack = await startWholeStack(stage);
    const meter = await openWorkMeter(stage, stack);
    const measure = (ratePerS: number, measureMs: number): Promise<MeasuredWork> => {
      progress.step(`${nameOf(ratePerS)}, round ${round}`, warmUpSeconds + measureMs / 1000);
      return measureWork({ stage, stack, meter, ratePerS, warmUpMs: warmUpSeconds * 1000, measureMs });
    };
    try {
      await measure(compiledAfter.ratePerS, compiledAfter.seconds * 1000);
      for (const [subject, rounds] of measured) {
        const { ratePerS } = subject;
        if (ratePerS === 0) {
          progress.step(`until it is quiet, round ${round}`, quietSeconds);
          await sleep(quietSeconds * 1000);
        }
        const found = await context.attempt(nameOf(ratePerS), () => measure(ratePerS, seconds * 1000));
        if (found !== undefined) rounds.push(found);
      }
    } finally {
      await meter.close();
    }
  });
}

/**
 * CPU time per request of a server that only responds: the minimum for waking one process on this machine. An event
 * wakes several processes of Sluice, most of them more than once.
 */
function measureBare(context: ScenarioContext, round: number, measured: ReadonlyMap<Subject, number[]>): Promise<void> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const { pid, trackUrl: url } = await startBareUws(stage);
    const run = (
      ratePerS: number,
      warmUpMs: number,
      measureMs: number,
      onMeasure?: () => void,
    ): Promise<LoadResult> => {
      const order = { url, bodies: [trackBody('bare')], connections: bareConnections, ratePerS, warmUpMs, measureMs };
      return runLoad(stage, order, undefined, onMeasure);
    };
    await run(compiledAfter.ratePerS, 0, compiledAfter.seconds * 1000);
    for (const [{ ratePerS }, found] of measured) {
      if (ratePerS === 0) continue;
      progress.step(`a bare HTTP server at ${nameOf(ratePerS)}, round ${round}`, warmUpSeconds + seconds);
      let before: Promise<number> | undefined;
      await run(ratePerS, warmUpSeconds * 1000, seconds * 1000, () => {
        before = processCpuMs(pid);
      });
      if (before !== undefined) found.push(((await processCpuMs(pid)) - (await before)) / (ratePerS * seconds));
    }
  });
}

const bareConnections = 16;

function rowOf({ ratePerS }: Subject, rounds: readonly MeasuredWork[], bare: readonly number[]): ResultRow {
  const secondsOf = ({ before, after }: MeasuredWork): number => (after.atMs - before.atMs) / 1000;
  const cpuMs = ({ before, after }: MeasuredWork, process: string): number =>
    (after.cpuMs[process] ?? Number.NaN) - (before.cpuMs[process] ?? Number.NaN);
  const processes = Object.keys(rounds[0]?.after.cpuMs ?? {});
  const allMs = (found: MeasuredWork): number => processes.reduce((sum, process) => sum + cpuMs(found, process), 0);
  const grown = ({ before, after }: MeasuredWork, count: WorkCount): number => after[count] - before[count];
  const share = (read: (found: MeasuredWork) => number): Figure =>
    plainFigure(
      'ratio',
      'less',
      rounds.map((found) => read(found) / 1000 / secondsOf(found)),
    );
  const shares = {
    'of a core': share(allMs),
    ...Object.fromEntries(processes.map((process) => [process, share((found) => cpuMs(found, process))])),
  };
  if (ratePerS === 0) {
    const perS = workCounts.map(
      (count) =>
        `${titles[count]} ${medianOf(rounds.map((found) => grown(found, count) / secondsOf(found))).toFixed(1)}`,
    );
    return { name: nameOf(ratePerS), figures: shares, note: `a second: ${perS.join(', ')}` };
  }
  return {
    name: nameOf(ratePerS),
    figures: {
      ...shares,
      'CPU an event': plainFigure(
        'ms',
        'less',
        rounds.map((found) => allMs(found) / found.events),
      ),
      'bare HTTP': plainFigure('ms', 'less', bare),
      p50: plainFigure(
        'ms',
        'less',
        rounds.map(({ arrived }) => arrived.overallMs.p50),
      ),
      p99: plainFigure(
        'ms',
        'less',
        rounds.map(({ arrived }) => arrived.overallMs.p99),
      ),
      ...Object.fromEntries(
        workCounts.map((count) => [
          titles[count],
          plainFigure(
            'ratio',
            'less',
            rounds.map((found) => grown(found, count) / found.events),
          ),
        ]),
      ),
    },
    note: 'bare HTTP: CPU per event of a server that only answers; counts are per event',
  };
}
