import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clockFileVariable } from '../../machine/env.ts';
import { compiledPath } from '../../../shared/runtime/compiled-path.ts';

const hourMs = 3_600_000;
const program = `console.log(JSON.stringify([Date.now(), +new Date(), +new Date(5), performance.timeOrigin + performance.now()]))`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-clock-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('movable clock: shifts Date by the offset in the file, and shifts no other clock', async () => {
  const file = join(folder, 'clock');
  await writeFile(file, String(-hourMs));
  const args = ['--import', compiledPath(new URL('./movable-clock.ts', import.meta.url)), '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env['PATH'], [clockFileVariable]: file },
  });
  const [now, made, given, steady] = JSON.parse(stdout) as [number, number, number, number];
  expect(Math.abs(steady - hourMs - now)).toBeLessThan(hourMs / 60);
  expect(Math.abs(made - now)).toBeLessThan(hourMs / 60);
  expect(given).toBe(5);
});
