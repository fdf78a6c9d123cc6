import { expect, test } from 'vitest';

import { runCommand } from './run-command.ts';

test('run command: returns what the command printed', async () => {
  const output = await runCommand('sh', ['-c', 'echo out; echo err >&2'], { timeoutMs: 10_000 });
  expect(output).toEqual({ stdout: 'out\n', stderr: 'err\n' });
});

test('run command: the error of a failure has the exit code and the end of the output', async () => {
  const failing = runCommand('sh', ['-c', 'echo broken >&2; exit 3'], { timeoutMs: 10_000 });
  await expect(failing).rejects.toThrow('sh ended with exit code 3: broken');
});

test('run command: a missing program is an error', async () => {
  await expect(runCommand('/not/there', [], { timeoutMs: 10_000 })).rejects.toThrow('cannot run /not/there');
});

test('run command: a command that takes too long ends together with the processes it started', async () => {
  // The inner sleep keeps the output open: if it did not end too, this test would take a minute.
  const slow = runCommand('sh', ['-c', 'sleep 60; true'], { timeoutMs: 200 });
  await expect(slow).rejects.toThrow('sh took longer than 0.2 s');
});

test('run command: can be cancelled', async () => {
  const cancel = new AbortController();
  const running = runCommand('sleep', ['60'], { timeoutMs: 60_000, signal: cancel.signal });
  cancel.abort();
  await expect(running).rejects.toThrow('sleep was cancelled');
});
