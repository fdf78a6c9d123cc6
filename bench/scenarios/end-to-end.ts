import { destinationIdOf } from '../config/ids.ts';
import { batchBody, trackBody } from '../load/bodies.ts';
import { assertAllAccepted, isAllAccepted } from '../load/load-result.ts';
import { startWalkerOs } from '../peers/peers.ts';
import { figureOf, plainFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { startSink } from '../sink/sink.ts';
import type { Sink } from '../sink/sink.ts';
import { describeTrials, findSustained } from '../sustained/find-sustained.ts';
import type { Trial } from '../sustained/find-sustained.ts';
import { guessSustained, runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { gcFigures } from '../system/gc-watch.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { startWholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 128;
const batchRows = 500;
const batchOut = 100;
/** Deliveries keep up if they are at least this fraction of the sent events; at a lower fraction the backlog grows. */
const keepsUpShare = 0.97;
/**
 * Maximum p99 at which events count as in time. It is measured from when a request is due to the event's arrival at the
 * sink.
 */
const p99MsMax = 100;

type System = {
  readonly sink: Sink;
  readonly url: string;
  readonly body: string;
  readonly eventsPerRequest: number;
  readonly services: readonly Service[];
  readonly pipeline?: Service;
  readonly pids: Readonly<Record<string, number>>;
  memoryBytes(): Promise<number>;
};
type Subject = { readonly name: string; start(stage: Stage): Promise<System> };
/** The highest rate that held, in events per second, with its run. */
type Found = { readonly ratePerS: number; readonly best: Paced | undefined; readonly trials: readonly Trial[] };
type Measured = {
  readonly best: Paced | undefined;
  /** The lower of the sent and the delivered rate, because a warm-up's backlog adds only to the delivered rate. */
  readonly sustainedPerS: number;
  readonly quarter: Paced | undefined;
  /** Only for single events: the highest rate at which 99 of 100 events arrived in time. */
  readonly inTime: Found | undefined;
  readonly trials: readonly Trial[];
  readonly memoryBytes: number;
};

const singles: Subject = {
  name: 'Sluice, single events',
  start: (stage) => startSluice(stage, 1, `/api/v1/track`, trackBody, 1),
};
const batched: Subject = {
  name: `Sluice, batches of ${batchRows} in, of ${batchOut} out`,
  start: (stage) => startSluice(stage, batchOut, `/api/v1/batch`, (token) => batchBody(token, batchRows), batchRows),
};
const walkeros: Subject = {
  name: 'walkerOS behind Fastify (stores nothing)',
  async start(stage) {
    const sink = await startSink(stage);
    const peer = await startWalkerOs(stage, sink.urlOf(`${group}/1`));
    const memoryBytes = (): Promise<number> => peakMemoryBytes(peer.pid);
    return {
      sink,
      url: peer.trackUrl,
      body: trackBody('bench'),
      eventsPerRequest: 1,
      services: [],
      pids: { walkerOS: peer.pid },
      memoryBytes,
    };
  },
};
const subjects = [walkeros, singles, batched];

/**
 * The rate that the whole path sustains without a growing backlog, the highest rate at which events arrive in time, and
 * the latency at a quarter of the sustained rate.
 */
export const endToEnd: Scenario = {
  name: 'end-to-end',
  summary: `HTTP in to delivered at a sink: the sustained rate, the rate up to which 99 of 100 events arrive within ${p99MsMax} ms, and latency at a quarter of it`,
  bars: [
    { id: 'singles', text: 'single events sustained', limit: 15_000, unit: 'per_s', ask: 'at-least' },
    { id: 'batched', text: 'batched events sustained', limit: 60_000, unit: 'per_s', ask: 'at-least' },
    {
      id: 'in-time',
      text: `single events with a p99 within ${p99MsMax} ms`,
      limit: 10_000,
      unit: 'per_s',
      ask: 'at-least',
    },
    { id: 'p50', text: 'single event to delivered at a quarter, median', limit: 10, unit: 'ms', ask: 'at-most' },
    { id: 'p99', text: 'single event to delivered at a quarter, p99', limit: 50, unit: 'ms', ask: 'at-most' },
  ],
  async run(context) {
    const measured = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const subject of subjects) {
        const found = await context.attempt(subject.name, () => measureOnce(context, subject, round));
        if (found !== undefined) measured.get(subject)?.push(found);
      }
    }
    const inTime = inTimeRow((measured.get(singles) ?? []).flatMap((found) => found.inTime ?? []));
    const rows = [...subjects.map((subject) => rowOf(subject.name, measured.get(subject) ?? [])), inTime];
    const value = (subject: Subject, figure: string): number =>
      rows.find(({ name }) => name === subject.name)?.figures[figure]?.value ?? Number.NaN;
    return {
      settings: { connections, batchRows, batchOut, keepsUpShare, p99MsMax, syncInterval: 'always', destinations: 1 },
      rows,
      measured: {
        singles: value(singles, 'events/s'),
        batched: value(batched, 'events/s'),
        'in-time': inTime.figures['events/s']?.value ?? Number.NaN,
        p50: value(singles, 'p50 at ¼'),
        p99: value(singles, 'p99 at ¼'),
      },
    };
  },
};

function rowOf(name: string, rounds: readonly Measured[]): ResultRow {
  const quarterFigure = (of: 'p50' | 'p99'): Figure =>
    plainFigure(
      'ms',
      'less',
      rounds.map(({ quarter }) => quarter?.arrived.overallMs[of] ?? Number.NaN),
    );
  return {
    name,
    figures: {
      'events/s': figureOf(
        'per_s',
        'more',
        rounds.map(({ best, sustainedPerS }) => ({ value: sustainedPerS, readings: best?.readings ?? [] })),
      ),
      ...gcFigures(rounds.map(({ best }) => best?.gc)),
      'p50 at ¼': quarterFigure('p50'),
      'p99 at ¼': quarterFigure('p99'),
      memory: plainFigure(
        'bytes',
        'less',
        rounds.map(({ memoryBytes }) => memoryBytes),
      ),
    },
    series: rounds.at(-1)?.best?.series ?? [],
    note: describeTrials(rounds.map(({ trials }) => trials)),
  };
}

function inTimeRow(rounds: readonly Found[]): ResultRow {
  const latency = (of: 'p50' | 'p99'): Figure =>
    plainFigure(
      'ms',
      'less',
      rounds.map(({ best }) => best?.arrived.overallMs[of] ?? Number.NaN),
    );
  return {
    name: `Sluice, single events in time (p99 within ${p99MsMax} ms)`,
    figures: {
      'events/s': figureOf(
        'per_s',
        'more',
        rounds.map(({ ratePerS, best }) => ({ value: ratePerS, readings: best?.readings ?? [] })),
      ),
      p50: latency('p50'),
      p99: latency('p99'),
    },
    series: rounds.at(-1)?.best?.series ?? [],
    note: describeTrials(rounds.map(({ trials }) => trials)),
  };
}

type Holds = (paced: Paced, eventsPerS: number) => boolean;
const keepsUp: Holds = ({ deliveredPerS }, eventsPerS) => deliveredPerS >= eventsPerS * keepsUpShare;
const isInTime: Holds = ({ arrived }) => arrived.overallMs.p99 <= p99MsMax;

function measureOnce(context: ScenarioContext, subject: Subject, round: number): Promise<Measured> {
  const { seconds, warmUpSeconds, progress, isQuick } = context;
  return context.stage.scoped(async (stage) => {
    const system = await subject.start(stage);
    const run = (label: string, requestsPerS: number | undefined): Promise<Paced> => {
      progress.step(`${subject.name}, round ${round}: ${label}`, seconds + warmUpSeconds + 2);
      return runPaced({
        stage,
        sink: system.sink,
        group,
        order: {
          url: system.url,
          bodies: [system.body],
          // An open loop needs spare connections for requests that pile up; in a closed loop, so many connections would
          // overload the path.
          connections: requestsPerS === undefined ? 32 : connections,
          ...(requestsPerS === undefined ? {} : { ratePerS: requestsPerS }),
        },
        ...timesOf(context),
        eventsPerRequest: system.eventsPerRequest,
        pids: system.pids,
        services: system.services,
        ...(system.pipeline === undefined ? {} : { pipeline: system.pipeline }),
        onWindow: (perS) => progress.note(`${Math.round(perS)} delivered/s`),
      });
    };
    // The first run creates the visitors and compiles code, which later runs do not repeat.
    await run('warming up', undefined);
    const guess = await run('maximum accepted rate', undefined);
    const find = async (guessPerS: number, steps: number, holds: Holds): Promise<Found> => {
      let best: Paced | undefined;
      const found = await findSustained({
        guessPerS,
        steps,
        async holds(eventsPerS) {
          const paced = await run(`${Math.round(eventsPerS)}/s`, eventsPerS / system.eventsPerRequest);
          // A rate does not hold if even one request is rejected.
          const isHeld = holds(paced, eventsPerS) && isAllAccepted(paced.load);
          if (isHeld) best = paced;
          return isHeld;
        },
      });
      return { ...found, best };
    };
    const guessPerS = guessSustained(guess, system.eventsPerRequest);
    const { ratePerS, trials, best } = await find(guessPerS, isQuick ? 5 : 8, keepsUp);
    const inTime = subject === singles ? await find(ratePerS || guessPerS, isQuick ? 4 : 6, isInTime) : undefined;
    const quarter = ratePerS > 0 ? await run('a quarter', ratePerS / 4 / system.eventsPerRequest) : undefined;
    if (quarter !== undefined) assertAllAccepted(`a quarter of ${subject.name}`, quarter.load);
    const sustainedPerS = Math.min(ratePerS, best?.deliveredPerS ?? 0);
    return { best, sustainedPerS, quarter, inTime, trials, memoryBytes: await system.memoryBytes() };
  });
}

async function startSluice(
  stage: Stage,
  batchSize: number,
  path: string,
  bodyOf: (token: string) => string,
  eventsPerRequest: number,
): Promise<System> {
  const { sink, gateway, pipeline, token } = await startWholePath(stage, {
    destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`), batchSize }],
  });
  return {
    sink,
    url: `${gateway.url}${path}`,
    body: bodyOf(token),
    eventsPerRequest,
    pipeline,
    services: [gateway, pipeline],
    pids: { gateway: gateway.pid, pipeline: pipeline.pid },
    memoryBytes: async () => (await peakMemoryBytes(gateway.pid)) + (await peakMemoryBytes(pipeline.pid)),
  };
}
