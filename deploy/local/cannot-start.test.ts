import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';

let folder: string;
let withoutEngine: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-cannot-start-'));
  withoutEngine = join(folder, 'without-engine.cjs');
  const code = `const modules = require('node:module');
const load = modules._load;
modules._load = function (name, ...others) {
  if (name.startsWith('@uwsjs/')) throw new Error('no such build');
  return load.call(this, name, ...others);
};`;
  await writeFile(withoutEngine, code);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs an entry until it exits. No server listens at the addresses to which it would connect. */
async function run(
  entry: string,
  options: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  arguments_: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [...options, compiledPath(new URL(entry, topFolder)), ...arguments_], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NATS_URL: 'nats://127.0.0.1:1', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

test('cannot start: a gateway without an engine says so before it connects, with an exit code that prevents a restart', async () => {
  const { code, output } = await run('gateway/main.ts', ['--require', withoutEngine]);
  expect(code).toBe(cannotStartExitCode);
  // The fatal line is searched, because the logger may write it after later lines.
  const line = output.split('\n').find((each) => each.includes('"level":60'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 60,
    msg: 'cannot start',
    reason: expect.stringMatching(/^the HTTP engine does not load \(.*no such build.*\): run npm ci$/) as string,
  });
});

test('cannot start: npm start without an engine starts nothing else', async () => {
  const stackFolder = join(folder, 'stack');
  const { code, output } = await run('deploy/local/main.ts', ['--require', withoutEngine], { SLUICE_DIR: stackFolder });
  expect(code).toBe(cannotStartExitCode);
  expect(output).toMatch(/^\nsluice did not start: the HTTP engine does not load \(.*\): run npm ci\n$/);
  await expect(readdir(stackFolder)).rejects.toThrow('ENOENT');
});

test('cannot start: npm start takes no option', async () => {
  const stackFolder = join(folder, 'stack');
  const { code, output } = await run('deploy/local/main.ts', [], { SLUICE_DIR: stackFolder }, ['--port', '80']);
  expect({ code, output }).toEqual({ code: 1, output: "error: unknown option '--port'\n" });
  await expect(readdir(stackFolder)).rejects.toThrow('ENOENT');
});

test('cannot start: doctor names the engine and what to do', async () => {
  const { code, output } = await run('deploy/cli/doctor/main.ts', ['--require', withoutEngine], {}, [
    '--deadline',
    '500',
  ]);
  expect(code).toBe(2);
  expect(output).toMatch(/HTTP engine.*does not load/);
});

test.each(['gateway', 'pipeline', 'control-plane'])(
  'cannot start: a %s with a wrong environment ends with the exit code that prevents a restart',
  async (service) => {
    const { code, output } = await run(`${service}/main.ts`, [], { LOG_LEVEL: 'loud' });
    expect(code).toBe(cannotStartExitCode);
    expect(output).toContain('LOG_LEVEL must be one of');
  },
);
