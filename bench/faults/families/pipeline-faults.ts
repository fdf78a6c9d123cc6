import { kill, only, pause } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import { throwInThread } from '../stack/throw-in-thread.ts';

const slow = { answerAfterMs: 1_000 };

export const pipelineKilled = defineFault({
  name: 'pipeline-killed',
  about: 'the only pipeline gets SIGKILL',
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const pipelineKilledSlow = defineFault({
  name: 'pipeline-killed-slow',
  about: 'the only pipeline gets SIGKILL while destinations take 1 s to answer',
  ...slow,
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const pipelineTerminatedSlow = defineFault({
  name: 'pipeline-terminated-slow',
  about: 'the only pipeline gets SIGTERM while destinations take 1 s to answer',
  ...slow,
  async run({ stack }) {
    only(stack.pipelines).signal('SIGTERM');
  },
});

export const pipelinePaused = defineFault({
  name: 'pipeline-paused',
  about: 'the only pipeline stands still for 20 s (SIGSTOP)',
  run: ({ stack }) => pause(only(stack.pipelines)),
});

export const threadThrown = defineFault({
  name: 'thread-thrown',
  about: 'a worker thread of the pipeline throws, told to by the inspector',
  run: ({ stack }) => throwInThread(only(stack.pipelines)),
});

export const twoPipelinesOneKilled = defineFault({
  name: 'two-pipelines-one-killed',
  about: 'one of two pipelines gets SIGKILL',
  pipelines: 2,
  async run({ stack }) {
    kill(only(stack.pipelines));
  },
});

export const twoPipelinesOnePaused = defineFault({
  name: 'two-pipelines-one-paused',
  about: 'one of two pipelines stands still for 20 s (SIGSTOP)',
  pipelines: 2,
  run: ({ stack }) => pause(only(stack.pipelines)),
});
