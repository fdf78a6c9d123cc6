import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { bundlePackages, bundledPackages } from './bundle-packages.ts';

const run = promisify(execFile);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-bundle-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each(bundledPackages)('bundles: $name has exactly the entries that modules import', async ({ name, entries }) => {
  const args = ['grep', '--no-index', '-hoE', `^import .* from '${name}(/[a-z]+)?';$`, '--', '*.ts'];
  const folders = ['gateway', 'pipeline', 'control-plane', 'shared', 'bench', 'deploy'];
  const { stdout } = await run('git', [...args, ...folders.map((path) => `:(top)${path}`)], {
    cwd: fileURLToPath(topFolder),
  });
  const imported = new Set(
    [...stdout.matchAll(new RegExp(`'${name}([^']*)'`, 'g'))].map(([, entry = '']) => `.${entry}`),
  );
  expect([...imported].toSorted()).toEqual(Object.keys(entries).toSorted());
});

test('bundles: a program in the same folder uses them, and a later build leaves existing ones alone', async () => {
  await bundlePackages(folder);
  const program = `import Type from 'typebox'; import { Compile } from 'typebox/compile'; import { Value } from 'typebox/value';
    import { GppModel } from '@iabgpp/cmpapi'; import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
    const schema = Type.Object({ a: Type.Integer({ minimum: 1, default: 7 }) });
    for (const name of ['typebox', '@iabgpp/cmpapi', 'libphonenumber-js/min']) console.log(import.meta.resolve(name));
    console.log(Compile(schema).Check({ a: 1 }), Compile(schema).Check({ a: 0 }), Value.Default(schema, {}).a);
    console.log(new GppModel('DBABTA~1YNN').getFieldValue('uspv1', 'OptOutSale'));
    console.log(parsePhoneNumberFromString('030 123456', 'DE').number);`;
  await writeFile(join(folder, 'program.mjs'), program);
  const { stdout } = await run(process.execPath, [join(folder, 'program.mjs')]);
  const [typebox, gpp, phone, ...answers] = stdout.trim().split('\n');
  for (const path of [typebox, gpp, phone]) expect(path).toContain(folder);
  expect(answers).toEqual(['true false 7', 'N', '+4930123456']);
  const index = join(folder, 'node_modules/typebox/index.js');
  await writeFile(index, `${await readFile(index, 'utf8')}// kept`);
  await bundlePackages(folder);
  expect(await readFile(index, 'utf8')).toMatch(/kept$/);
});
