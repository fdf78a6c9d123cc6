import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

/**
 * Gives a process, with all its present and future threads, the lowest CPU priority. A nice value is not enough: it
 * belongs to one thread and, where the kernel groups processes by session (sched(7), "The autogroup feature"), counts
 * only within the session; each process of the bench has its own. So the session also gets the lowest priority, and
 * the threads get the idle policy if the system has `chrt`. Steps that are not permitted are skipped.
 */
export async function putLast(pid: number): Promise<void> {
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [String(pid)])) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW);
    } catch {
      // The thread has ended in the meantime.
    }
  }
  await writeFile(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW)).catch(() => undefined);
  await new Promise((resolve) => {
    execFile('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)], resolve);
  });
}
