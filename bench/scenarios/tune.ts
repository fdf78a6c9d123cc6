import { destinationIdOf } from '../config/ids.ts';
import { batchBody, trackBody } from '../load/bodies.ts';
import { figureOf, plainFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import { startWholePath } from '../whole-path/whole-path.ts';
import { chooseValue } from '../tune/choose-value.ts';
import { knobs } from '../tune/knobs.ts';
import type { Knob } from '../tune/knobs.ts';

const group = 'in';
const batchRows = 200;
const batchOut = 100;
const leastGain = 0.05;

type Settings = Readonly<Record<string, string>>;

/** Varies one setting after the other, and prints the best values for this machine. */
export const tune: Scenario = {
  name: 'tune',
  isLong: true,
  summary: 'a sweep of threads, partitions, frames and linger times: settings for this machine, ready to paste',
  bars: [],
  async run(context) {
    const chosen: Record<string, string> = Object.fromEntries(knobs.map(({ name, byDefault }) => [name, byDefault]));
    const rows: ResultRow[] = [];
    for (const knob of knobs) {
      const trials = await tryValues(context, knob, chosen);
      for (const { value, runs } of trials) rows.push(rowOf(knob, value, runs, chosen[knob.name] === value));
      const rates = trials.map(({ value, runs }) => ({ value, perS: runs.map((run) => rateOf(knob, run)) }));
      if (knob.isShownOnly !== true) {
        chosen[knob.name] = chooseValue(chosen[knob.name] ?? knob.byDefault, rates, leastGain);
      }
    }
    return {
      settings: { leastGain, batchRows, batchOut },
      rows,
      measured: {},
      advice: adviceOf(chosen, context),
    };
  },
};

type Trial = { readonly value: string; readonly runs: Paced[] };

/** Tries all values in every round, so that a slow moment of the machine affects all of them. */
async function tryValues(context: ScenarioContext, knob: Knob, chosen: Settings): Promise<Trial[]> {
  const values = context.isQuick
    ? [...new Set([knob.values[0] ?? '', knob.byDefault, knob.values.at(-1) ?? ''])]
    : knob.values;
  const trials = values.map((value): Trial => ({ value, runs: [] }));
  for (let round = 1; round <= context.rounds; round += 1) {
    for (const { value, runs } of trials) {
      const settings = { ...chosen, [knob.name]: value };
      const found = await context.attempt(`${knob.name}=${value}`, () => tryOnce(context, knob, settings));
      if (found !== undefined) runs.push(found);
    }
  }
  return trials;
}

function tryOnce(context: ScenarioContext, knob: Knob, { sync, ...env }: Settings): Promise<Paced> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`${knob.name}=${env[knob.name] ?? sync ?? ''}`, seconds + warmUpSeconds + 6);
    const isAccepted = knob.judgedBy === 'accepted';
    const path = await startWholePath(stage, {
      env,
      syncAlways: sync === 'always',
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`), batchSize: batchOut }],
    });
    const { sink, gateway, pipeline, token } = path;
    return runPaced({
      stage,
      sink,
      group,
      order: isAccepted
        ? { url: `${gateway.url}/api/v1/track`, bodies: [trackBody(token)], connections: 256 }
        : { url: `${gateway.url}/api/v1/batch`, bodies: [batchBody(token, batchRows)], connections: 8 },
      ...timesOf(context),
      eventsPerRequest: isAccepted ? 1 : batchRows,
      pipeline,
      isLast: true,
      onWindow: (perS) => progress.note(`${Math.round(perS)} delivered/s`),
    });
  });
}

const rateOf = (knob: Knob, run: Paced): number =>
  knob.judgedBy === 'accepted' ? (run.load.byStatus['200'] ?? 0) / run.load.seconds : run.deliveredPerS;

function rowOf(knob: Knob, value: string, runs: readonly Paced[], isInUse: boolean): ResultRow {
  const readingsOf = (run: Paced): readonly number[] =>
    knob.judgedBy === 'accepted' ? run.load.windows.map(({ perSecond }) => perSecond) : run.readings;
  return {
    name: `${knob.name}=${value}`,
    figures: {
      [`${knob.judgedBy}/s`]: figureOf(
        'per_s',
        'more',
        runs.map((run) => ({ value: rateOf(knob, run), readings: readingsOf(run) })),
      ),
      'p99 of answers': plainFigure(
        'ms',
        'less',
        runs.map(({ load }) => load.latencyMs.p99),
      ),
    },
    note: isInUse ? 'in use' : '',
  };
}

function adviceOf(chosen: Settings, { isQuick, rounds, seconds }: ScenarioContext): string[] {
  const lines = knobs
    .filter(({ isShownOnly }) => isShownOnly !== true)
    .flatMap(({ name, byDefault }) => {
      const value = chosen[name] ?? byDefault;
      // The comment has its own line, because Docker and systemd read a comment behind a value as part of the value.
      return value === byDefault ? [`${name}=${value}`] : [`# default ${byDefault}`, `${name}=${value}`];
    });
  return [
    `# For this machine, from ${rounds} round${rounds === 1 ? '' : 's'} of ${seconds} s per value${isQuick ? '; a quick run: try again without --quick before you use it' : ''}.`,
    rounds === 1
      ? '# One round is not enough to recommend a value: these are the defaults.'
      : `# A value other than the default was better by more than ${leastGain * 100} %, and in every round.`,
    ...lines,
    '# LOG_PARTITIONS takes effect when the log is created; nats-server: jetstream { sync_interval: always }.',
  ];
}
