import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { services, tools } from './environment-page.ts';

// Helm's values, Compose and the units set variables. If a value is not the program's default, a comment there must say
// why: otherwise the two would drift apart without a reason.

type SetValue = { readonly file: string; readonly name: string; readonly value: string; readonly isExplained: boolean };

const deploy = join(import.meta.dirname, '../..');

/** Values that a file sets, one per line. `shape` matches the name and the value in a line. */
async function readSetValues(file: string, shape: RegExp): Promise<SetValue[]> {
  const lines = (await readFile(join(deploy, file), 'utf8')).split('\n');
  const found: SetValue[] = [];
  // A comment explains the variables that follow it without an empty line.
  let isExplained = false;
  for (const line of lines) {
    const isComment = /^\s*#/.test(line);
    const assignments = isComment ? [] : [...line.matchAll(shape)];
    if (isComment) isExplained = true;
    else if (assignments.length === 0) isExplained = false;
    for (const [, name = '', value = ''] of assignments) {
      found.push({ file, name, value, isExplained: isExplained || / # \S/.test(line) });
    }
  }
  return found;
}

const yamlEntry = /^\s+([A-Z][A-Z0-9]*_[A-Z0-9_]+): '?(?:\$\{\w+:-)?([^'#}]*?)\}?'?\s*(?:#.*)?$/g;
const assignment = /(?:^|=| )([A-Z][A-Z0-9]*_[A-Z0-9_]+)=(\S*)/g;

let set: readonly SetValue[];
beforeAll(async () => {
  const units = (await readdir(join(deploy, 'systemd'))).filter((name) => name.endsWith('.service'));
  const unitFiles = [...units, 'sluice-.service.d/common.conf', 'sluice.env.example'];
  const read = [
    readSetValues('helm/sluice/values.yaml', yamlEntry),
    readSetValues('compose/compose.yaml', yamlEntry),
    ...unitFiles.map((name) => readSetValues(`systemd/${name}`, assignment)),
  ];
  set = (await Promise.all(read)).flat();
});

/** The default of each variable; undefined for a variable without a default. */
const defaults = new Map(
  [...services, ...tools].flatMap(({ variables }) =>
    Object.entries(variables).map(([name, variable]) => [name, defaultOf(variable)] as const),
  ),
);

function defaultOf(variable: object): string | undefined {
  if (!('default' in variable)) return undefined;
  return Array.isArray(variable.default) ? variable.default.join(',') : String(variable.default);
}

test('set values: where a value is not the default, a comment there says why', () => {
  expect(new Set(set.map(({ file }) => file)).size).toBeGreaterThan(4);
  expect(set.length).toBeGreaterThan(40);
  const differing = set.filter(({ name, value }) => {
    const usual = defaults.get(name);
    return usual !== undefined && usual !== value;
  });
  expect(differing.length).toBeGreaterThan(5);
  expect(differing.filter(({ isExplained }) => !isExplained)).toEqual([]);
});
