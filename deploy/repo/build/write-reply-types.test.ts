import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { replyTypes } from './reply-types.ts';
import { replyTypesFile, writeReplyTypes } from './write-reply-types.ts';

const top = join(import.meta.dirname, '../../..');

test('types of replies: the build writes the types of the endpoints’ current replies, and git does not track the file', async () => {
  expect(await readFile(join(top, replyTypesFile), 'utf8')).toBe(replyTypes());
  const { stdout } = await promisify(execFile)('git', ['ls-files', replyTypesFile], { cwd: top });
  expect(stdout).toBe('');
});

test('types of replies: are written only if the file is missing or older than the compiled code', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-replies-'));
  const compiled = ['control-plane/a.js', 'shared/b.js', 'deploy/repo/build/c.js'].map((path) =>
    join(folder, 'dist', path),
  );
  for (const path of [...compiled, join(folder, replyTypesFile)]) await mkdir(dirname(path), { recursive: true });
  for (const path of compiled) await writeFile(path, '');
  const build = (): Promise<boolean> => writeReplyTypes(folder, join(folder, 'dist'));

  expect(await build()).toBe(true);
  expect(await build()).toBe(false);
  const later = new Date(Date.now() + 1_000);
  await utimes(compiled[1] ?? '', later, later);
  expect(await build()).toBe(true);
  await rm(folder, { recursive: true });
});
