import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';

const commands: readonly (readonly [entry: string, arguments_: readonly string[]])[] = [
  ['control-plane/keys-cli.ts', ['scopes']],
  ['control-plane/visitors-cli.ts', ['--help']],
  ['control-plane/migrate.ts', ['--help']],
  ['control-plane/reseal.ts', ['--help']],
  ['deploy/cli/sign-in-link/main.ts', ['--help']],
  ['deploy/cli/dead-letters/main.ts', ['--help']],
  ['deploy/cli/doctor/main.ts', ['--help']],
  ['deploy/cli/upgrade-check/main.ts', ['--help']],
  ['deploy/cli/compare-counts/main.ts', ['--help']],
  ['deploy/cli/compare-kinds/main.ts', ['--help']],
  ['deploy/cli/verify-certificate/main.ts', ['--help']],
];

test('commands: each ends in silence when the reader of its output has gone', async () => {
  const run = async ([entry, arguments_]: (typeof commands)[number]) => {
    const child = spawn(process.execPath, [compiledPath(new URL(entry, topFolder)), ...arguments_], {
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return [entry, code, errors];
  };
  expect(await Promise.all(commands.map(run))).toEqual(commands.map(([entry]) => [entry, 0, '']));
});
