import { kill } from '../stack/actions.ts';
import { defineFault } from './fault.ts';

const slow = { answerAfterMs: 1_000, harms: ['pipelines'] } as const;

export const pipelineKilledSlow = defineFault({
  name: 'pipeline-killed-slow',
  about: 'the only pipeline gets SIGKILL while destinations take 1 s to answer',
  sees: 'As `pipeline-killed`. The slower destinations answer, the more requests are in flight and sent a second time.',
  does: 'The data needs no repair. A smaller `DISPATCH_CONCURRENCY` means fewer repetitions.',
  ...slow,
  async run({ stack, pick }) {
    await kill(pick(stack.pipelines));
  },
});

export const pipelineTerminatedSlow = defineFault({
  name: 'pipeline-terminated-slow',
  about: 'the only pipeline gets SIGTERM while destinations take 1 s to answer',
  sees: 'A pipeline that is stopping sends nothing new and waits for answers. It repeats nothing if they arrive within `PIPELINE_HAND_OVER_MS`.',
  does: 'Set the stop timeout of the process manager above `SHUTDOWN_DEADLINE_MS` ([start-stop-upgrade.md](start-stop-upgrade.md)).',
  ...slow,
  async run({ stack, pick }) {
    pick(stack.pipelines).signal('SIGTERM');
  },
});
