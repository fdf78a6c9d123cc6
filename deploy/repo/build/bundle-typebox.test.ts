import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { bundleTypebox, bundledEntries } from './bundle-typebox.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('bundle TypeBox: contains exactly the entries that modules import', async () => {
  const args = ['grep', '--no-index', '-hoE', "^import .* from 'typebox(/[a-z]+)?';$", '--', '*.ts'];
  const folders = ['gateway', 'pipeline', 'control-plane', 'shared', 'bench', 'deploy'];
  const { stdout } = await run('git', [...args, ...folders.map((name) => `:(top)${name}`)], {
    cwd: fileURLToPath(topFolder),
  });
  const imported = new Set(stdout.split('\n').flatMap((line) => /'typebox\/?([^']*)'/.exec(line)?.[1] ?? []));
  expect([...imported].map((name) => (name === '' ? 'index' : name)).toSorted()).toEqual(bundledEntries.toSorted());
});

test('bundle TypeBox: a program in the same folder uses the bundle, and a later build leaves an existing bundle alone', async () => {
  await bundleTypebox(folder);
  const program = `import Type from 'typebox'; import { Compile } from 'typebox/compile'; import { Value } from 'typebox/value';
    const schema = Type.Object({ a: Type.Integer({ minimum: 1, default: 7 }) });
    console.log(import.meta.resolve('typebox'), Compile(schema).Check({ a: 1 }), Compile(schema).Check({ a: 0 }), Value.Default(schema, {}).a);`;
  await writeFile(join(folder, 'program.mjs'), program);
  const { stdout } = await run(process.execPath, [join(folder, 'program.mjs')]);
  const [resolved, ...answers] = stdout.trim().split(' ');
  expect(resolved).toContain(folder);
  expect(answers).toEqual(['true', 'false', '7']);
  const index = join(folder, 'node_modules/typebox/index.js');
  await writeFile(index, `${await readFile(index, 'utf8')}// kept`);
  await bundleTypebox(folder);
  expect(await readFile(index, 'utf8')).toMatch(/kept$/);
});
