import { spawn } from 'node:child_process';
import { inheritedEnv } from '../env.ts';
import { compileCode } from '../system/code.ts';

/** Runs the micro-benchmarks in a process of their own, on compiled code. Returns its exit code. */
export async function runMicro(filter: string | undefined, isQuick: boolean): Promise<number> {
  const code = await compileCode();
  const args = [code.pathOf('bench/micro/micro-main'), filter ?? '', isQuick ? 'quick' : ''];
  // The collector is called between measurements, so that one does not pay for the garbage of another.
  const child = spawn(process.execPath, ['--expose-gc', ...args], { stdio: 'inherit', env: { ...inheritedEnv() } });
  return new Promise((resolve) => {
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
    child.once('error', () => resolve(1));
  });
}
