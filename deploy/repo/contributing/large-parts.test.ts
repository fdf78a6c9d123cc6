import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findLargeParts, limits } from './find-large-parts.ts';

const top = join(import.meta.dirname, '../../..');
/** Written by `npm run generate`. */
const generated: ReadonlySet<string> = new Set(['control-plane/console/api/replies.ts']);

const lines = (count: number): string => 'go();\n'.repeat(count);
const fields = (count: number): string => Array.from({ length: count }, (_, i) => `  #f${i} = ${i};\n`).join('');
const find = (source: string, path = 'a.ts') =>
  findLargeParts(path, source).map(({ line, what }) => `${line}: ${what}`);

test('large parts: files, classes and functions over the limits are found', () => {
  expect(find(lines(limits.fileLines + 1))).toEqual(['1: a file of 501 lines']);
  expect(find(`class A {\n${fields(13)}}\n`)).toEqual(['1: a class of 13 fields']);
  expect(find(`\nconst f = () => {\n${lines(59)}};\n`)).toEqual(['2: a function of 61 lines']);
  expect(find(`\nclass A {\n  m() {\n${lines(59)}  }\n}\n`)).toEqual(['3: a function of 61 lines']);
});

test('large parts: code within the limits, static fields, functions in functions and markup are not reported', () => {
  expect(find(lines(limits.fileLines))).toEqual([]);
  expect(find(`class A {\n${fields(12)}  static b = 1;\n  readonly c = () => 1;\n}\n`)).toEqual([]);
  const inner = `const g = () => {\n${lines(40)}};\n`;
  expect(find(`function f() {\n${inner}${inner}}\n`)).toEqual([]);
  expect(find(`function F() {\n${lines(90)}}\n`, 'a.tsx')).toEqual([]);
});

test('large parts: a reason counts only directly above the code that it explains', () => {
  expect(find(`// Large: one table\n${lines(501)}`)).toEqual([]);
  expect(find(`/**\n * A.\n * Large: one object a request\n */\nclass A {\n${fields(13)}}\n`)).toEqual([]);
  expect(find(`// Large: a list\nfunction f() {\n${lines(60)}}\n`)).toEqual([]);
  expect(find(`// Large: a list\n\nfunction f() {\n${lines(60)}}\n`)).toHaveLength(1);
  expect(find(`// Large:\nfunction f() {\n${lines(60)}}\n`)).toHaveLength(1);
});

test('large parts: no file, class or function exceeds the limits without a stated reason', async () => {
  const { stdout } = await promisify(execFile)(
    'git',
    ['ls-files', '-z', '-co', '--exclude-standard', '*.ts', '*.tsx'],
    {
      cwd: top,
      maxBuffer: 16 * 1024 ** 2,
    },
  );
  const found: string[] = [];
  for (const path of new Set(stdout.split('\0').filter((one) => one !== '' && !generated.has(one)))) {
    const text = await readFile(join(top, path), 'utf8').catch(() => '');
    const isTest = path.endsWith('.test.ts');
    // Functions in tests may be long, because they consist of cases.
    const parts = findLargeParts(path, text).filter(({ what }) => !isTest || !what.includes('function'));
    for (const { line, what } of parts) found.push(`${path}:${line}: ${what}`);
  }
  expect(found).toEqual([]);
});
