import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defaultEmbeddedCacheDir, findNatsServer } from '../../shared/embedded/nats/nats-binary.ts';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { removeLeftRunFolders } from '../../shared/testing/run-folder.ts';
import { describeMachine } from '../machine/machine.ts';
import { describeTrouble } from '../machine/describe-trouble.ts';
import { savePage, saveResult } from '../report/save-result.ts';
import { renderBars, renderTable } from '../report/table.ts';
import type { StoredResult } from '../result/stored-result.ts';
import type { FaultOrder } from './options.ts';
import type { Delivered } from './judge/judge.ts';
import { describeOutcome, faultBars, faultsOf, resultOf } from './result-of.ts';
import type { NamedOutcome } from './result-of.ts';
import { runFault } from './run-fault.ts';
import { endStacks } from './stack/stack.ts';

type Say = (text: string) => void;
type FaultRunOrder = Extract<FaultOrder, { readonly kind: 'run' }>;

/** Results are not stored in the folder of kept results, because most runs only investigate one fault. */
const resultsFolder = fileURLToPath(new URL('dist/faults/', topFolder));
const summary = 'a stack broken under load: the outcome of every acknowledged event';

/** Runs faults one after the other, reports each outcome, and stores the table. Returns the exit code. */
export async function runFaults(order: FaultRunOrder, say: Say): Promise<number> {
  const { faults, options, again } = order;
  const at = new Date();
  await removeLeftRunFolders();
  const nats = await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress: say });
  const machine = await describeMachine(tmpdir(), nats.version);
  const trouble = describeTrouble(machine);
  if (trouble !== undefined) say(`! ${trouble}`);
  const unhook = endOnSignals(say);
  const outcomes: NamedOutcome[] = [];
  try {
    for (const fault of faults) {
      const startedMs = performance.now();
      const atS = (): string => ((performance.now() - startedMs) / 1_000).toFixed(1);
      say(`\n${fault.name}: ${fault.about}`);
      const outcome = await runFault(fault, options, {
        natsPath: nats.path,
        say: (line) => say(`  ${atS()} s  ${line}`),
      });
      outcomes.push({ name: fault.name, outcome });
      say(`  ${describeOutcome(outcome)}`);
      if (outcome.kind === 'ran') sayExamples(outcome.run.verdict.destinations, say);
    }
  } finally {
    unhook();
  }
  const result = resultOf(outcomes, options);
  const stored: StoredResult = {
    format: 2,
    scenario: 'faults',
    summary,
    at: at.toISOString(),
    isQuick: false,
    tookS: (Date.now() - at.getTime()) / 1_000,
    machine,
    bars: faultBars,
    ...result,
    settings: { seconds: options.seconds, code: 'compiled by tsc', ...result.settings },
  };
  say(`\n${renderTable(result.rows)}\n\n${renderBars(faultBars, result.measured)}\n`);
  say(`result: ${await saveResult(stored, resultsFolder)}`);
  say(`page:   ${await savePage('faults', [stored], resultsFolder)}`);
  say(`again:  ${again}`);
  const isTried = outcomes.some(({ outcome }) => outcome.kind !== 'skipped');
  return isTried && outcomes.every(({ outcome }) => faultsOf(outcome).length === 0) ? 0 : 1;
}

function sayExamples(destinations: Readonly<Record<string, Pick<Delivered, 'examples'>>>, say: Say): void {
  for (const [name, { examples }] of Object.entries(destinations)) {
    if (examples.lost.length > 0) say(`  lost at ${name}, as visitor/number: ${examples.lost.join(' ')} …`);
    if (examples.disordered.length > 0) say(`  out of order at ${name}: ${examples.disordered.join(' ')} …`);
    if (examples.mixed.length > 0) say(`  with properties of another at ${name}: ${examples.mixed.join(' ')} …`);
  }
}

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** On Ctrl-C, SIGTERM or a closed terminal, stops the started processes before this process ends. */
function endOnSignals(say: Say): () => void {
  const unhook = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: (typeof signals)[number]): void => {
    unhook();
    say('\nstopping what was started …');
    const end = (): never => process.exit(exitCodes[signal]);
    endStacks().then(end, end);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return unhook;
}
