import { fileURLToPath } from 'node:url';
import { runCommand } from '../../shared/embedded/machine/run-command.ts';
import { inheritedEnv } from '../machine/env.ts';

/** What measured processes run: compiled code, as in production, or the sources. */
export type Code = {
  /** The file to run for an entry such as `gateway/main`. */
  pathOf(entry: string): string;
  readonly execArgv: readonly string[];
  /** How it stands in a result. */
  readonly label: string;
};

export class CompileError extends Error {
  readonly code = 'compile';
}

const top = new URL('../../', import.meta.url);
const compileDeadlineMs = 180_000;

/** Compiles the services and the bench into a folder of their own, which no other build touches. */
export async function compileCode(): Promise<Code> {
  const compiler = fileURLToPath(new URL('node_modules/typescript/bin/tsc', top));
  const project = fileURLToPath(new URL('../tsconfig.build.json', import.meta.url));
  const env = { ...inheritedEnv() };
  const options = { timeoutMs: compileDeadlineMs, cwd: fileURLToPath(top), env };
  await runCommand(process.execPath, [compiler, '-p', project], options).catch((error: unknown) => {
    throw new CompileError(`compiling the code to measure: ${error instanceof Error ? error.message : ''}`);
  });
  const folder = new URL('dist/bench/', top);
  return { pathOf: (entry) => fileURLToPath(new URL(`${entry}.js`, folder)), execArgv: [], label: 'compiled by tsc' };
}

/** The sources, run by tsx: starts at once, and names every closure at a cost. For tests. */
export const sourceCode: Code = {
  pathOf: (entry) => fileURLToPath(new URL(`${entry}.ts`, top)),
  execArgv: ['--import', import.meta.resolve('tsx')],
  label: 'sources by tsx',
};
