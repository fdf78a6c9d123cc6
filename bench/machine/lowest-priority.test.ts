import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { putLast } from './lowest-priority.ts';

test('lowest priority: applies to every thread of a process and, if the system supports it, to its session', async () => {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => undefined, 1_000)'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    await putLast(pid);
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [String(pid)]);
    const lowest = constants.priority.PRIORITY_LOW;
    expect(threads.map((thread) => getPriority(Number(thread)))).toEqual(threads.map(() => lowest));
    const session = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => '');
    if (session !== '') expect(session.trim()).toMatch(new RegExp(` nice ${lowest}$`));
  } finally {
    child.kill();
  }
});
