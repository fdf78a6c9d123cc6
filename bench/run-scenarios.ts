import { resolve } from 'node:path';
import { lengthsFor } from './options.ts';
import type { RunOptions } from './options.ts';
import { describeTrouble } from './machine/describe-trouble.ts';
import { describeMachine } from './machine/machine.ts';
import { describeStolenTime, watchStolenTime } from './machine/stolen-time.ts';
import { createProgress } from './report/progress.ts';
import type { Progress } from './report/progress.ts';
import { savePage, saveResult } from './report/save-result.ts';
import { renderBars, renderTable } from './report/table.ts';
import type { StoredResult } from './result/stored-result.ts';
import { createAttempts } from './system/attempts.ts';
import type { Scenario } from './system/scenario.ts';
import { benchSettings } from './system/service-env.ts';
import { knownVariables } from './system/known-variables.ts';
import { openStage } from './system/stage.ts';
import type { OpenStage, Stage } from './system/stage.ts';

type Say = (text: string) => void;

/** Runs scenarios one after the other and writes one page for all. Returns the exit code. */
export async function runScenarios(scenarios: readonly Scenario[], options: RunOptions, say: Say): Promise<number> {
  const progress = createProgress(process.stdout);
  const opened = await openStage({
    settings: options.settings,
    nodeArgs: options.profileFolder === undefined ? [] : profilingArgs(options.profileFolder),
    onProgress: say,
  });
  const ending = endOnSignals(opened, progress, say);
  const results: StoredResult[] = [];
  const failed: string[] = [];
  try {
    for (const [index, scenario] of scenarios.entries()) {
      const surroundings = { stage: opened.stage, progress, say, isFirst: index === 0, isEnding: ending.isEnding };
      try {
        const result = await runScenario(scenario, options, surroundings);
        results.push(result);
        if ((result.failures ?? []).length > 0) failed.push(scenario.name);
        say(`result: ${await saveResult(result)}`);
      } catch (error) {
        progress.clear();
        failed.push(scenario.name);
        // The scenario failed because the bench is stopping the processes that it used.
        if (ending.isEnding()) break;
        say(`\n${scenario.name} failed: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  } finally {
    progress.clear();
    await opened.close();
    ending.unhook();
  }
  if (results.length > 0) {
    const name = scenarios.length === 1 ? (results[0]?.scenario ?? '') : 'report';
    say(`page:   ${await savePage(name, results)}`);
  }
  return failed.length === 0 ? 0 : 1;
}

type Surroundings = {
  readonly stage: Stage;
  readonly progress: Progress;
  readonly say: Say;
  /** Whether the bench has not used the machine yet; by default true. */
  readonly isFirst?: boolean;
  /** Whether the run is being stopped. */
  isEnding?(): boolean;
};

/** Runs one scenario, prints its result, and returns it with a description of the machine. */
export async function runScenario(
  scenario: Scenario,
  options: RunOptions,
  { stage, progress, say, isFirst = true, isEnding = () => false }: Surroundings,
): Promise<StoredResult> {
  const at = new Date();
  const machine = await describeMachine(stage.folder, stage.natsVersion, isFirst);
  const trouble = describeTrouble(machine);
  if (trouble !== undefined) say(`\n! this machine: ${trouble}`);
  say(`\n${scenario.name}: ${scenario.summary}`);
  const lengths = lengthsFor(options, scenario.usual);
  const attempts = createAttempts(say, isEnding);
  const { attempt } = attempts;
  const stolenTime = watchStolenTime();
  const run = stage.scoped((own) => scenario.run({ ...lengths, stage: own, progress, say, attempt }));
  // Stolen time is no longer watched after the run, even if the run fails.
  const [result, stolen] = await Promise.all([run, run.then(stolenTime, stolenTime)]);
  progress.clear();
  const { name, summary, bars } = scenario;
  const { settings, profileFolder } = options;
  const { seconds, warmUpSeconds, warmUpSecondsMax, rounds } = lengths;
  const stored: StoredResult = {
    format: 2,
    scenario: name,
    summary,
    at: at.toISOString(),
    isQuick: options.isQuick,
    tookS: (Date.now() - at.getTime()) / 1000,
    machine: stolen === undefined ? machine : { ...machine, stolen },
    bars,
    ...result,
    ...(attempts.failures.length === 0 ? {} : { failures: attempts.failures }),
    settings: {
      seconds,
      warmUpSeconds,
      warmUpSecondsMax,
      rounds,
      code: profileFolder === undefined ? 'compiled by tsc' : 'compiled by tsc, profiled',
      environment: { ...benchSettings, ...settings },
      ...result.settings,
    },
  };
  const read = knownVariables(stage.started);
  const unread = Object.keys(settings).filter((variable) => !read.has(variable));
  if (unread.length > 0) say(`! no service that ${name} starts reads ${unread.join(', ')}`);
  say(`\n${renderTable(result.rows)}\n`);
  const stolenFrom = describeStolenTime(stolen);
  if (stolenFrom !== undefined) say(`! this machine: ${stolenFrom}\n`);
  if (bars.length > 0) say(`${renderBars(bars, result.measured)}\n`);
  if (result.advice !== undefined) say(`${result.advice.join('\n')}\n`);
  return stored;
}

/** https://nodejs.org/api/cli.html#--cpu-prof */
const profilingArgs = (folder: string): string[] => ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`];

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** On Ctrl-C, SIGTERM or a closed terminal, stops everything that was started, and then ends the bench. */
function endOnSignals(opened: OpenStage, progress: Progress, say: Say): { unhook(): void; isEnding(): boolean } {
  let isEnding = false;
  const unhook = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: (typeof signals)[number]): void => {
    isEnding = true;
    unhook();
    progress.clear();
    say('\nstopping what was started …');
    const end = (): never => process.exit(exitCodes[signal]);
    opened.close().then(end, end);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { isEnding: () => isEnding, unhook };
}
