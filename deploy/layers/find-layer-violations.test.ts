import { expect, test } from 'vitest';
import { findLayerViolations } from './find-layer-violations.ts';

const layers = { app: ['low', 'low/inner', 'high'], other: ['room'] };
const at = (path: string, ...imported: string[]) => ({
  path,
  text: imported.map((specifier) => `import { x } from '${specifier}';`).join('\n'),
});

test('layers: a file may import its own folder, those before it, and other apps', () => {
  const files = [
    at('app/high/a.ts', './b.ts', '../low/c.ts', '../low/inner/d.ts', '../../other/room/e.ts', 'node:fs'),
    at('app/main.ts', './high/a.ts', './low/c.ts'),
  ];
  expect(findLayerViolations(files, layers)).toEqual([]);
});

test.each([
  ['an import', `import { a } from '../high/a.ts';`],
  ['a type', `import type { A } from '../high/a.ts';`],
  ['an export', `export { a } from '../high/a.ts';`],
  ['all of it', `export * from '../high/a.ts';`],
  ['an import of its effect', `import '../high/a.ts';`],
  ['one over several lines', `import {\n  a,\n  type B,\n} from '../high/a.ts';`],
  ['the type of a dynamic import', `type A = import('../high/a.ts').A;`],
  ['a dynamic import', `const a = await import('../high/a.ts');`],
])('layers: %s that goes up is named', (_, text) => {
  expect(findLayerViolations([{ path: 'app/low/c.ts', text }], layers)).toEqual([
    'app/low/c.ts imports app/high/a.ts, which stands above it',
  ]);
});

test('layers: a folder may not import the files above all folders', () => {
  expect(findLayerViolations([at('app/high/a.ts', '../main.ts')], layers)).toHaveLength(1);
});

test('layers: a folder without a place is named, once', () => {
  const files = [at('app/new/a.ts'), at('app/new/b.ts')];
  expect(findLayerViolations(files, layers)).toEqual(['app/new has no place among the layers']);
});

test('layers: tests may import any room, and nothing else may import what is for them', () => {
  const test = at('app/low/c.test.ts', '../high/a.ts', './testing/rig.ts');
  const rig = at('app/low/testing/rig.ts', '../../high/a.ts');
  expect(findLayerViolations([test, rig], layers)).toEqual([]);
  const code = at('app/low/c.ts', './testing/rig.ts');
  expect(findLayerViolations([code], { app: ['low', 'low/testing'] })).toEqual([
    'app/low/c.ts imports app/low/testing/rig.ts, which is for tests',
  ]);
});
