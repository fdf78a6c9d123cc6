import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { topFolder } from '../runtime/compiled-path.ts';

const deadlineMs = 120_000;

/** Builds once per run and before each rerun in watch mode. Tests start processes and threads from the build. */
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
