import { destinationIdOf } from '../config/ids.ts';
import { batchBody, trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { plainFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import { gcFigures, watchGc } from '../system/gc-watch.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import { familyMemoryProbe, startSampler } from '../system/sampler.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { assertNoneRefused } from '../system/services.ts';
import { cpuNsAnEvent } from '../machine/process-use.ts';
import { cpuMsOf, startWholePath } from '../whole-path/whole-path.ts';
import { waitUntil } from '../machine/wait-until.ts';

const group = 'in';
const connections = 128;
const batchRows = 500;
const batchOut = 100;
const arriveDeadlineMs = 300_000;

/** Without a rate, events are sent as fast as requests are answered. */
type Subject = { readonly name: string; readonly eventsPerS?: number; readonly isBatched: boolean };
type Cost = {
  /** CPU time per event in ns, by process. */
  readonly cpuNs: Readonly<Record<string, number>>;
  /** Peak memory in bytes, by process. */
  readonly memoryBytes: Readonly<Record<string, number>>;
  readonly eventsPerS: number;
  readonly gc: GcWatch | undefined;
};

const saturated: Subject = { name: 'single events, as fast as answered', isBatched: false };
const subjects: readonly Subject[] = [
  saturated,
  { name: 'single events, 250/s', eventsPerS: 250, isBatched: false },
  { name: 'single events, 1,000/s', eventsPerS: 1_000, isBatched: false },
  { name: 'single events, 4,000/s', eventsPerS: 4_000, isBatched: false },
  { name: `batches of ${batchRows} in, of ${batchOut} out, 10,000/s`, eventsPerS: 10_000, isBatched: true },
];

/**
 * CPU time per event in each process. It is suitable for sizing, because it depends little on other programs on the
 * machine.
 */
export const cost: Scenario = {
  name: 'cost',
  summary: 'CPU of each process for an event on its way to one destination, at several rates: for sizing',
  bars: [{ id: 'single', text: 'CPU of a single event, saturated', limit: 90_000, unit: 'ns', ask: 'at-most' }],
  async run(context) {
    const rows: ResultRow[] = [];
    for (const subject of subjects) {
      const rounds: Cost[] = [];
      for (let round = 1; round <= context.rounds; round += 1) {
        const found = await context.attempt(subject.name, () => measureOnce(context, subject, round));
        if (found !== undefined) rounds.push(found);
      }
      rows.push(rowOf(subject, rounds));
    }
    return {
      settings: { connections, batchRows, batchOut, syncInterval: 'always', destinations: 1 },
      rows,
      measured: { single: rows[subjects.indexOf(saturated)]?.figures['CPU an event']?.value ?? Number.NaN },
    };
  },
};

function rowOf({ name }: Subject, rounds: readonly Cost[]): ResultRow {
  const total = rounds.map(({ cpuNs }) => Object.values(cpuNs).reduce((sum, ns) => sum + ns, 0));
  const ofProcess = (process: string): Figure =>
    plainFigure(
      'ns',
      'less',
      rounds.map(({ cpuNs }) => cpuNs[process] ?? Number.NaN),
    );
  return {
    name,
    figures: {
      'CPU an event': plainFigure('ns', 'less', total),
      ...Object.fromEntries(Object.keys(rounds[0]?.cpuNs ?? {}).map((process) => [process, ofProcess(process)])),
      cores: plainFigure(
        'ratio',
        'less',
        total.map((ns, round) => (ns * (rounds[round]?.eventsPerS ?? Number.NaN)) / 1e9),
      ),
      ...gcFigures(rounds.map(({ gc }) => gc)),
      ...Object.fromEntries(
        Object.keys(rounds[0]?.memoryBytes ?? {}).map((process) => [
          `${process}, most`,
          plainFigure(
            'bytes',
            'less',
            rounds.map(({ memoryBytes }) => memoryBytes[process] ?? Number.NaN),
          ),
        ]),
      ),
    },
  };
}

function measureOnce(context: ScenarioContext, subject: Subject, round: number): Promise<Cost> {
  const { seconds, warmUpSeconds, progress } = context;
  const { name, eventsPerS, isBatched } = subject;
  return context.stage.scoped(async (stage) => {
    progress.step(`${name}, round ${round}`, seconds + warmUpSeconds + 8);
    const path = await startWholePath(stage, {
      destinations: (sink) => [
        { id: destinationIdOf(0), url: sink.urlOf(`${group}/1`), batchSize: isBatched ? batchOut : 1 },
      ],
    });
    const send = async (measureMs: number): Promise<number> => {
      const eventsPerRequest = isBatched ? batchRows : 1;
      const before = (await path.sink.group(group)).events;
      const load = await runLoad(stage, {
        url: `${path.gateway.url}/api/v1/${isBatched ? 'batch' : 'track'}`,
        bodies: [isBatched ? batchBody(path.token, batchRows) : trackBody(path.token)],
        connections,
        ...(eventsPerS === undefined ? {} : { ratePerS: eventsPerS / eventsPerRequest }),
        warmUpMs: 0,
        measureMs,
      });
      assertAllAccepted(name, load);
      const events = load.acceptedInAll * eventsPerRequest;
      await waitUntil('the events to arrive', arriveDeadlineMs, async () => {
        const arrived = (await path.sink.group(group)).events - before;
        return arrived >= events ? undefined : `${arrived} of ${events}`;
      });
      return events;
    };
    await send(warmUpSeconds * 1000);
    const pids = { gateway: path.gateway.pid, log: path.natsPids[0] ?? 0, pipeline: path.pipeline.pid };
    const probes = Object.entries({ ...pids, PostgreSQL: path.postgresPid });
    const sampler = startSampler(probes.map(([name, pid]) => familyMemoryProbe(name, pid)));
    const watching = watchGc([path.gateway, path.pipeline]);
    const [before, startedMs] = [await cpuMsOf(path), performance.now()];
    const events = await send(seconds * 1000);
    const [after, tookMs] = [await cpuMsOf(path), performance.now() - startedMs];
    const gc = await watching.end(events);
    const memory = await sampler.stop();
    await assertNoneRefused(path.pipeline);
    const cpuNs = cpuNsAnEvent(before, after, events);
    const memoryBytes = Object.fromEntries(
      memory.map((series) => [series.name, Math.max(...series.points.map(([, bytes]) => bytes))]),
    );
    return { cpuNs, memoryBytes, gc, eventsPerS: (events * 1000) / tookMs };
  });
}
