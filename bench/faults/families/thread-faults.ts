import { breakThread } from '../stack/inspected-thread.ts';
import { defineFault } from './fault.ts';
import type { Fault } from './fault.ts';

const loopDeadlineMs = 90_000;
const memoryDeadlineMs = 60_000;

type ThreadFault = {
  readonly name: string;
  readonly about: string;
  readonly sees: string;
  readonly does: string;
  readonly expression: string;
  readonly endDeadlineMs?: number;
};

const broken = ({ expression, endDeadlineMs, ...words }: ThreadFault): Fault =>
  defineFault({
    ...words,
    harms: ['pipelines'],
    run: ({ stack, pick }) => breakThread(pick(stack.pipelines), expression, endDeadlineMs),
  });

const others =
  'Its actors move to the other threads at once and continue where they stopped; a new thread starts within seconds.';

export const threadThrown = broken({
  name: 'thread-thrown',
  about: 'a worker thread of the pipeline throws an error, injected through the inspector',
  sees: `The log has \`a thread died; restarting it\` with the error and the suspect. ${others}`,
  does: 'Report the error with its stack: it is a bug. If one actor is quarantined (`an actor keeps failing`), check its destination’s settings and events for the cause.',
  expression: `setTimeout(() => { throw new Error('thrown by npm run faults'); }, 0)`,
});

export const threadOutOfMemory = broken({
  name: 'thread-out-of-memory',
  about: 'a worker thread of the pipeline takes memory until its heap is full',
  sees: `\`a thread died; restarting it\` with \`ERR_WORKER_OUT_OF_MEMORY\`; before it \`sluice_thread_heap_bytes\` nears \`PIPELINE_THREAD_HEAP_MIB\`. ${others}`,
  does: 'If it happens again under load: run fewer destinations per thread (`PIPELINE_THREADS`), or a larger heap if the machine has the memory.',
  expression: `globalThis.kept = []; setInterval(() => { for (let i = 0; i < 20; i += 1) kept.push(new Array(131072).fill(i + 0.5)); }, 0)`,
  endDeadlineMs: memoryDeadlineMs,
});

export const threadLooping = broken({
  name: 'thread-looping',
  about: 'a worker thread of the pipeline runs in a loop that never ends',
  sees: `\`SluiceThreadSilent\`: the thread’s actors stop; actors on other threads continue. After 8 s without a report the supervisor ends the thread (\`sluice_thread_silent_deaths_total\`). ${others}`,
  does: 'Report the suspect that the log names. The likeliest cause is a pattern in a mapping or rule that takes forever.',
  expression: 'setTimeout(() => { for (;;); }, 0)',
  endDeadlineMs: loopDeadlineMs,
});
