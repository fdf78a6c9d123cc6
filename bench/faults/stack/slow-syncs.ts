import { spawn } from 'node:child_process';
import { once } from 'node:events';

const leaveDeadlineMs = 5_000;

/**
 * Delays each sync of a process by `ms`. Tracing its system calls (strace) slows all of them slightly. Resolves to a
 * function that ends the delay.
 */
export async function slowSyncs(pid: number, ms: number): Promise<() => Promise<void>> {
  const calls = 'fsync,fdatasync';
  const inject = `inject=${calls}:delay_exit=${ms * 1_000}`;
  const args = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', inject, '-p', String(pid)];
  const tracer = spawn('strace', args, { stdio: 'ignore' });
  await once(tracer, 'spawn');
  const ended = once(tracer, 'exit');
  return async () => {
    if (tracer.exitCode !== null) throw new Error(`strace ended early with exit code ${tracer.exitCode}`);
    tracer.kill('SIGINT');
    const timer = setTimeout(() => tracer.kill('SIGKILL'), leaveDeadlineMs);
    await ended;
    clearTimeout(timer);
  };
}
