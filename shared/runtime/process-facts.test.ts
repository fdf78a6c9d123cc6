import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

import { readProcessFacts } from './process-facts.ts';

test('process facts: a living process has its command and a constant start time; an ended process has no facts', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const facts = await readProcessFacts(pid);
  expect(facts?.command.join(' ')).toBe('sleep 60');
  expect((await readProcessFacts(pid))?.startedAt).toBe(facts?.startedAt);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readProcessFacts(pid)).toBeUndefined();
});

test.each([0, -1, Number.NaN, 1.5, 2 ** 30])('process facts: none are returned for process id %s', async (pid) => {
  expect(await readProcessFacts(pid)).toBeUndefined();
});
