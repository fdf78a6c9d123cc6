import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProgramNotFoundError, findPrometheusProgram } from './find-program.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-find-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
  await chmod(join(folder, name), 0o755);
}

const find = (signal?: AbortSignal): Promise<string> =>
  findPrometheusProgram('promtool', {
    cacheDir: join(folder, 'cache'),
    searchPath: [folder],
    onProgress: () => undefined,
    ...(signal === undefined ? {} : { signal }),
  });

test('promtool: the program on PATH is used if it runs', async () => {
  await put('promtool', '#!/bin/sh\necho promtool, version 3\n');
  expect(await find()).toBe(join(folder, 'promtool'));
});

test('promtool: if there is neither a program on PATH nor a mirror, an error says so', async () => {
  await put('promtool', '#!/bin/sh\nexit 1\n');
  const cancelled = AbortSignal.abort(new Error('no network in this test'));
  const failure = await find(cancelled).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProgramNotFoundError);
  expect((failure as Error).message).toMatch(/no promtool was found.*Debian's package/s);
});
