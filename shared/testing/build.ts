import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { topFolder } from '../runtime/compiled-path.ts';

const deadlineMs = 120_000;

/** Once per run, and again before a watched run is repeated: what tests start as processes and threads is the build. */
export async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(build);
  await build();
}

async function build(): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(topFolder),
    timeout: deadlineMs,
  });
}
