import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';

/**
 * Gives a process the processor last, all of its threads and those it will start. A nice value alone does not: it is one
 * thread's, and where the kernel groups processes by session (sched(7), "The autogroup feature") it counts within the
 * session only, which each process of the bench is by itself. So the session is put last as well, and its threads are made
 * idle ones where the system has the tool for it. What is not allowed is left as it is.
 */
export async function putLast(pid: number): Promise<void> {
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [String(pid)])) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_LOW);
    } catch {
      // It has ended in the meantime.
    }
  }
  await writeFile(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW)).catch(() => undefined);
  await new Promise((resolve) => {
    execFile('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)], resolve);
  });
}
