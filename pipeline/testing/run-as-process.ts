import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { PipelineRig } from './pipeline-rig.ts';

/** Runs the pipeline as a process of its own, from the sources, until the test is finished. */
export function runAsProcess(rig: PipelineRig, instanceId = 'test'): ChildProcess {
  const entry = fileURLToPath(new URL('../main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', entry], {
    env: { ...rig.variables, INSTANCE_ID: instanceId },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}
