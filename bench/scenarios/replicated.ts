import { randomBytes } from 'node:crypto';
import { benchAccountId, destinationIdOf } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted, isAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { figureOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { Figure, ResultRow, Unit } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { describeTrials, findSustained } from '../sustained/find-sustained.ts';
import type { Trial } from '../sustained/find-sustained.ts';
import { guessSustained, runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import { cpuNsAnEvent } from '../machine/process-use.ts';
import { cpuMsOf, startLog, startWholePath } from '../whole-path/whole-path.ts';
import { startGateway } from '../system/services.ts';

const group = 'in';
const trackConnections = 256;
const connections = 128;
/** Connections of a closed loop, few enough not to overload the path. */
const fewConnections = 64;
/** Deliveries keep up if they are at least this fraction of the sent events; at a lower fraction the backlog grows. */
const keepsUpShare = 0.97;
/** Rate at which both subjects are compared by cost per event, so that their frames are equally full. */
const costPerS = 1_000;

type Subject = { readonly name: string; readonly nodes: number };
type AtGateway = { readonly most: LoadResult; readonly half: LoadResult };
type Path = {
  readonly best: Paced | undefined;
  readonly sustainedPerS: number;
  readonly trials: readonly Trial[];
  readonly paced: Paced;
  readonly cpuNs: Readonly<Record<string, number>>;
};
type Measured = AtGateway & Path;

const one: Subject = { name: 'log of one node', nodes: 1 };
const three: Subject = { name: 'log of three nodes, three replicas', nodes: 3 };
const subjects = [one, three];

/** Cost of replication with all nodes on one machine, which is the worst case. */
export const replicated: Scenario = {
  name: 'replicated',
  summary: 'the whole stack on a log of three nodes and on one of a single node, all on this machine',
  bars: [
    {
      id: 'end-to-end',
      text: 'events sustained end to end, three nodes against one',
      limit: 0.75,
      unit: 'ratio',
      ask: 'at-least',
    },
  ],
  async run(context) {
    const measured = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const subject of subjects) {
        const found = await context.attempt(subject.name, async () => ({
          ...(await measureGateway(context, subject, round)),
          ...(await measurePath(context, subject, round)),
        }));
        if (found !== undefined) measured.get(subject)?.push(found);
      }
    }
    const rows = subjects.map((subject) => rowOf(subject, measured.get(subject) ?? []));
    const compared = compare(rows);
    return {
      settings: { trackConnections, connections, fewConnections, keepsUpShare, costPerS, syncInterval: 'always' },
      rows: [...rows, compared],
      measured: { 'end-to-end': compared.figures['end to end']?.value ?? Number.NaN },
    };
  },
};

function rowOf({ name }: Subject, rounds: readonly Measured[]): ResultRow {
  const plain = (unit: Unit, better: Figure['better'], of: (round: Measured) => number): Figure =>
    plainFigure(unit, better, rounds.map(of));
  return {
    name,
    note: describeTrials(rounds.map(({ trials }) => trials)),
    figures: {
      track: figureOf(
        'per_s',
        'more',
        rounds.map(({ most }) => ({
          value: most.answersPerS,
          readings: most.windows.map((window) => window.perSecond),
        })),
      ),
      'p50 at half': plain('ms', 'less', ({ half }) => half.latencyMs.p50),
      'p99 at half': plain('ms', 'less', ({ half }) => half.latencyMs.p99),
      'end to end': figureOf(
        'per_s',
        'more',
        rounds.map(({ best, sustainedPerS }) => ({ value: sustainedPerS, readings: best?.readings ?? [] })),
      ),
      'p50 delivered': plain('ms', 'less', ({ paced }) => paced.arrived.overallMs.p50),
      'p99 delivered': plain('ms', 'less', ({ paced }) => paced.arrived.overallMs.p99),
      'CPU an event': plain('ns', 'less', ({ cpuNs }) => Object.values(cpuNs).reduce((sum, ns) => sum + ns, 0)),
      'of that the log': plain('ns', 'less', ({ cpuNs }) => cpuNs['log'] ?? Number.NaN),
    },
  };
}

/** Ratios of three nodes to one, figure by figure and round by round. */
function compare([reference, subject]: readonly ResultRow[]): ResultRow {
  const figures = Object.entries(subject?.figures ?? {}).map(([name, { values = [], better }]) => {
    const ratio = ratioFigure(values, reference?.figures[name]?.values ?? []);
    return [name, { ...ratio, better }] as const;
  });
  return { name: 'three of one', figures: Object.fromEntries(figures) };
}

/** Measures the gateway with the log alone: the maximum rate of tracks, and the latency at half of it. */
function measureGateway(context: ScenarioContext, { name, nodes }: Subject, round: number): Promise<AtGateway> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const log = await startLog(stage, { nodes });
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    await publishAccounts(log.url, [{ accountId: benchAccountId, token }], nodes);
    const gateway = await startGateway(stage, log.url, { env: { LOG_REPLICAS: String(nodes) } });
    const run = async (label: string, ratePerS?: number): Promise<LoadResult> => {
      progress.step(`${name}, round ${round}: ${label}`, seconds + warmUpSeconds);
      const load = await runLoad(stage, {
        url: `${gateway.url}/api/v1/track`,
        bodies: [trackBody(token)],
        connections: trackConnections,
        ...timesOf(context),
        ...(ratePerS === undefined ? {} : { ratePerS }),
      });
      assertAllAccepted(`${label} of ${name}`, load);
      return load;
    };
    const most = await run('tracks');
    return { most, half: await run('tracks at half', most.answersPerS / 2) };
  });
}

/** Measures the whole path: the sustained rate, and the cost per event at a rate that both subjects sustain. */
function measurePath(context: ScenarioContext, { name, nodes }: Subject, round: number): Promise<Path> {
  const { seconds, warmUpSeconds, progress, isQuick } = context;
  return context.stage.scoped(async (stage) => {
    const path = await startWholePath(stage, {
      nodes,
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`) }],
    });
    const run = (label: string, ratePerS: number | undefined): Promise<Paced> => {
      progress.step(`${name}, round ${round}: ${label}`, seconds + warmUpSeconds + 2);
      return runPaced({
        stage,
        sink: path.sink,
        group,
        order: {
          url: `${path.gateway.url}/api/v1/track`,
          bodies: [trackBody(path.token)],
          connections: ratePerS === undefined ? fewConnections : connections,
          ...(ratePerS === undefined ? {} : { ratePerS }),
        },
        ...timesOf(context),
        eventsPerRequest: 1,
        pipeline: path.pipeline,
        onWindow: (perS) => progress.note(`${Math.round(perS)} delivered/s`),
      });
    };
    // The first run creates the visitors and compiles code, which later runs do not repeat.
    await run('warming up', undefined);
    const guess = await run('maximum accepted rate', undefined);
    let best: Paced | undefined;
    const { ratePerS, trials } = await findSustained({
      guessPerS: guessSustained(guess, 1),
      steps: isQuick ? 3 : 6,
      async holds(eventsPerS) {
        const paced = await run(`${Math.round(eventsPerS)}/s`, eventsPerS);
        const keepsUp = paced.deliveredPerS >= eventsPerS * keepsUpShare && isAllAccepted(paced.load);
        if (keepsUp) best = paced;
        return keepsUp;
      },
    });
    const before = await cpuMsOf(path);
    const paced = await run(`cost of an event at ${costPerS}/s`, costPerS);
    const after = await cpuMsOf(path);
    assertAllAccepted(`${costPerS}/s on ${name}`, paced.load);
    const sustainedPerS = Math.min(ratePerS, best?.deliveredPerS ?? 0);
    return { best, sustainedPerS, trials, paced, cpuNs: cpuNsAnEvent(before, after, paced.load.acceptedInAll) };
  });
}
