import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { controlPlaneEnv } from '../control-plane/env.ts';
import { gatewayEnv } from '../gateway/env.ts';
import { pipelineEnv } from '../pipeline/env.ts';
import { usualValueOf } from '../shared/runtime/variables.ts';
import { knownVariables } from './system/known-variables.ts';
import { knobs } from './tune/knobs.ts';

const defaults: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries({ ...gatewayEnv, ...pipelineEnv }).map(([name, variable]) => [
    name,
    'rule' in variable ? 'by the machine' : usualValueOf(variable),
  ]),
);
const page = await readFile(new URL('../deploy/docs/pages/tune.md', import.meta.url), 'utf8');
const sizes: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, million: 1_000_000 };

/** Parses a default such as `8 million a partition`, `64 MiB a thread` or `100,000`. */
function readDefault(text: string): unknown {
  const [, digits = '', unit] = /^([\d,]+)(?: (KiB|MiB|GiB|million))?/.exec(text) ?? [];
  if (digits === '') return text === 'false' ? false : text;
  return Number(digits.replaceAll(',', '')) * (unit === undefined ? 1 : (sizes[unit] ?? Number.NaN));
}

/** Variables that the page's tables name, each with the default that the page gives. */
const rows = page.split('\n').flatMap((line): [string, unknown][] => {
  const [, first = '', second = ''] = line.split('|').map((cell) => cell.trim());
  const names = [...first.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = '']) => name);
  // `5, 16 KiB` gives the defaults of two variables, and `100,000` gives the default of one variable.
  const texts = names.length > 1 ? second.split(', ') : [second];
  return names.map((name, at) => [name, readDefault(texts[at] ?? '')]);
});

test('tuning page: every default on the page is the default that the services have', () => {
  expect(rows.length).toBeGreaterThan(15);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(rows.map(([name]) => [name, defaults[name]])));
});

test('tuning page: every variable on the page is read by a service', () => {
  const known = new Set([...knownVariables(), ...Object.keys(controlPlaneEnv)]);
  const named = [...page.matchAll(/`([A-Z][A-Z]*_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test('tuning page: every scenario quoted on the page has a result', async () => {
  const results = (await readdir(new URL('results', import.meta.url))).join('\n');
  const quoted = [...page.matchAll(/\(`([a-z-]+)`\)/g)].map(([, name = '']) => name);
  expect(quoted.length).toBeGreaterThan(4);
  expect(quoted.filter((name) => !results.includes(`-${name}.json`))).toEqual([]);
});

test('tune: the sweep tries the default of each setting', () => {
  expect(knobs.length).toBeGreaterThan(5);
  for (const { name, values, byDefault } of knobs)
    expect({ name, values }).toEqual({ name, values: expect.arrayContaining([byDefault]) });
  const turned = knobs.filter(({ name }) => name !== 'sync' && defaults[name] !== 'by the machine');
  expect(turned.map(({ name, byDefault }) => [name, byDefault])).toEqual(
    turned.map(({ name }) => [name, String(defaults[name])]),
  );
});
