import { expect, test } from 'vitest';
import { readProcessFacts } from '../../shared/runtime/process-facts.ts';
import { natsBinaryPath } from '../../shared/testing/servers.ts';
import { kill } from './stack/actions.ts';
import { defineFault } from './families/fault.ts';
import { resultOf } from './result-of.ts';
import { runFault } from './run-fault.ts';
import { servicesOf } from './stack/stack.ts';

const pids = new Set<number>();
const deadlineMs = 240_000;

/** Like the registered fault of that name; also records the processes of the stack. */
const pipelineKilled = defineFault({
  name: 'pipeline-killed',
  about: 'the only pipeline gets SIGKILL',
  sees: 'nothing',
  does: 'nothing',
  harms: ['pipelines'],
  async run({ stack, pick }) {
    for (const { pid } of [...stack.log, stack.postgres, ...servicesOf(stack)]) pids.add(pid);
    await kill(pick(stack.pipelines));
  },
  async check({ stack, pick }) {
    pids.add(pick(stack.pipelines).pid);
    return pick(stack.pipelines).starts === 2 ? undefined : 'the pipeline was not started again';
  },
});

test(
  'faults: a pipeline killed under load loses and doubles no event, and all processes of the stack end',
  async () => {
    const said: string[] = [];
    const around = { natsPath: await natsBinaryPath(), say: (line: string) => void said.push(line) };
    const options = { seconds: 3, ratePerS: 60, seed: 1, isKept: false, previous: undefined };
    const outcome = await runFault(pipelineKilled, options, around);
    if (outcome.kind !== 'ran') throw new Error(outcome.why);
    expect(outcome).toMatchObject({ kind: 'ran', run: { problem: undefined } });
    const { rows, measured } = resultOf([{ name: pipelineKilled.name, outcome }], options);
    expect(measured).toMatchObject({ lost: 0, doubled: 0, invented: 0, mixed: 0, afterStop: 0 });
    expect(measured).toMatchObject({ afterErasure: 0, afterWithdrawal: 0 });
    expect(rows[0]?.figures['acknowledged']?.value).toBeGreaterThan(50);
    expect(rows[0]?.figures['delivered']?.value).toBe(rows[0]?.figures['acknowledged']?.value);
    expect(rows[0]?.figures['first delivery']?.value).toBeGreaterThan(0);
    expect(said.join('\n')).toContain('pipeline-1 is running again');
    expect(pids.size).toBe(6);
    expect(await Promise.all([...pids].map((pid) => readProcessFacts(pid)))).toEqual([...pids].map(() => undefined));
  },
  deadlineMs,
);
