import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import type { PipelineRig } from './pipeline-rig.ts';

const shownCharactersMax = 8_192;

export type PipelineProcess = {
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that ended the process, and the end of its log, which explains an unexpected code. */
  readonly ended: Promise<{ readonly code: number | NodeJS.Signals | null; readonly log: string }>;
};

/** Runs the pipeline as a process of its own until the test is finished. */
export function runAsProcess(rig: PipelineRig, instanceId = 'test'): PipelineProcess {
  const entry = compiledPath(new URL('../main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--enable-source-maps', entry], {
    env: { ...rig.variables, INSTANCE_ID: instanceId, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-shownCharactersMax)));
  }
  const ended = new Promise<{ code: number | NodeJS.Signals | null; log: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code: code ?? signal, log }));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { kill: (signal) => void child.kill(signal), ended };
}
