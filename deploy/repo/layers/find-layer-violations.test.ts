import { expect, test } from 'vitest';
import {
  findCrowdedRoots,
  findLayerViolations,
  findReserved,
  findSpelledBytes,
  findUnusedEdges,
} from './find-layer-violations.ts';
import { findHeavyProcesses, findPastDoors, findUnlistedRooms } from './find-room-violations.ts';

const layers = { app: ['low', 'low/inner', 'high'], other: ['room'] };
const at = (path: string, ...imported: string[]) => ({
  path,
  text: imported.map((specifier) => `import { x } from '${specifier}';`).join('\n'),
});

test('layers: a file may import its own folder, folders of lower layers, and other apps', () => {
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
])('layers: %s from a higher layer is named', (_, text) => {
  expect(findLayerViolations([{ path: 'app/low/c.ts', text }], layers)).toEqual([
    'app/low/c.ts imports app/high/a.ts, which stands above it',
  ]);
});

test('layers: a folder may not import the files at the top of its app', () => {
  expect(findLayerViolations([at('app/high/a.ts', '../main.ts')], layers)).toHaveLength(1);
});

test('layers: a feature may import the lower layers of its app and the siblings that it declares, but no other sibling', () => {
  const features = { app: { one: ['two'], two: [], three: [] } };
  const check = (...files: ReturnType<typeof at>[]) => findLayerViolations(files, { app: ['low'] }, {}, features);
  const declared = at('app/one/a.ts', '../low/b.ts', '../two/c.ts');
  expect(check(declared, at('app/main.ts', './one/a.ts', './three/d.ts'))).toEqual([]);
  expect(check(at('app/two/c.ts', '../one/a.ts'))).toEqual([
    'app/two/c.ts imports app/one/a.ts, but two declares no edge to one',
  ]);
  expect(check(at('app/one/a.ts', '../three/d.ts'), at('app/low/b.ts', '../one/a.ts'))).toHaveLength(2);
  expect(check(at('app/one/a.ts', '../main.ts'))).toHaveLength(1);
  expect(findUnusedEdges([declared], features)).toEqual([]);
  expect(findUnusedEdges([at('app/one/a.test.ts', '../two/c.ts')], features)).toEqual([
    'app/one imports nothing of app/two: its edge is not needed',
  ]);
});

test('layers: a folder that has no layer is named, and only once', () => {
  const files = [at('app/new/a.ts'), at('app/new/b.ts')];
  expect(findLayerViolations(files, layers)).toEqual(['app/new has no place among the layers']);
});

test('layers: tests may import any folder, and other code may not import helpers of tests', () => {
  const test = at('app/low/c.test.ts', '../high/a.ts', './testing/rig.ts');
  const rig = at('app/low/testing/rig.ts', '../../high/a.ts');
  expect(findLayerViolations([test, rig], layers)).toEqual([]);
  const code = at('app/low/c.ts', './testing/rig.ts');
  expect(findLayerViolations([code], { app: ['low', 'low/testing'] })).toEqual([
    'app/low/c.ts imports app/low/testing/rig.ts, which is for tests',
  ]);
});

test('layers: folders that match one pattern have the same layer, and may not import each other', () => {
  const kinds = { app: ['kinds/sdk', 'kinds/*', 'kinds'] };
  const one = at('app/kinds/one/a.ts', '../sdk/b.ts');
  const registry = at('app/kinds/registry.ts', './one/a.ts', './two/a.ts');
  expect(findLayerViolations([one, registry], kinds)).toEqual([]);
  expect(findLayerViolations([at('app/kinds/two/a.ts', '../one/a.ts')], kinds)).toHaveLength(1);
  expect(findLayerViolations([at('app/kinds/one/deep/a.ts')], kinds)).toHaveLength(1);
});

const walls = { shared: [], gateway: ['shared'], bench: ['shared', 'gateway'] };

test('walls: an app may import itself and the apps that the walls allow', () => {
  const files = [
    at('gateway/main.ts', '../shared/a.ts', './b.ts'),
    at('bench/run.ts', '../gateway/main.ts', '../shared/a.ts'),
    at('vitest.config.ts', './bench/run.ts'),
  ];
  expect(findLayerViolations(files, {}, walls)).toEqual([]);
});

test.each([
  ['shared, an app', at('shared/a.ts', '../gateway/main.ts'), 'shared may not import gateway'],
  ['an app, another app', at('gateway/main.ts', '../pipeline/main.ts'), 'gateway may not import pipeline'],
  ['an app, the bench', at('gateway/main.ts', '../bench/run.ts'), 'gateway may not import bench'],
  ['a test of it too', at('gateway/a.test.ts', '../bench/run.ts'), 'gateway may not import bench'],
  ['the helpers of its tests too', at('gateway/testing/a.ts', '../../bench/run.ts'), 'gateway may not import bench'],
])('walls: an import that is not allowed is reported: %s', (_, file, reason) => {
  expect(findLayerViolations([file], {}, walls)).toEqual([expect.stringMatching(new RegExp(`${reason}$`))]);
});

test('circles: files that import each other are named with the imports between them, including imports of types', () => {
  const files = [
    at('app/low/a.ts', './b.ts'),
    { path: 'app/low/b.ts', text: `import type { C } from './c.ts';` },
    at('app/low/c.ts', './a.ts', '../high/d.ts'),
    at('app/high/d.ts'),
  ];
  expect(findLayerViolations(files, {})).toEqual([
    'app/low/a.ts imports app/low/b.ts imports app/low/c.ts imports app/low/a.ts: a circle',
  ]);
});

test('circles: a file that imports itself is a circle; two paths to the same file are not', () => {
  expect(findLayerViolations([at('app/a.ts', './a.ts')], {})).toEqual(['app/a.ts imports app/a.ts: a circle']);
  const diamond = [
    at('app/a.ts', './b.ts', './c.ts'),
    at('app/b.ts', './d.ts'),
    at('app/c.ts', './d.ts'),
    at('app/d.ts'),
  ];
  expect(findLayerViolations(diamond, {})).toEqual([]);
});

test.each([
  ['Buffer.from(\'"test":true\')', 1],
  ['Buffer.from(`"event":${JSON.stringify(name)}`)', 1],
  ['Buffer.from(JSON.stringify({ test: true }))', 0],
  ["Buffer.from('token')", 0],
])('bytes: outside of the contracts, %s causes this number of findings: %i', (text, times) => {
  expect(findSpelledBytes([{ path: 'pipeline/a.ts', text }])).toHaveLength(times);
  expect(findSpelledBytes([{ path: 'shared/contracts/events/a.ts', text }])).toEqual([]);
  expect(findSpelledBytes([{ path: 'pipeline/a.test.ts', text }])).toEqual([]);
});

test('layers: a module reserved for some folders is refused to other folders, including imports of its types', () => {
  const reserved = { library: ['app/low'], 'app/low/client.ts': ['app/low'] };
  const allowed = [at('app/low/a.ts', 'library', './client.ts'), at('app/low/deep/b.ts', '../client.ts')];
  expect(findReserved([...allowed, at('app/high/c.test.ts', '../low/client.ts')], reserved)).toEqual([]);
  const refused = [
    at('app/high/a.ts', '../low/client.ts'),
    { path: 'app/high/b.ts', text: `import type { A } from 'library';` },
    at('app/high/b.test.ts', 'library'),
    at('app/lower/c.ts', 'library'),
  ];
  expect(findReserved(refused, reserved)).toEqual([
    'app/high/a.ts imports app/low/client.ts, which is for app/low',
    'app/high/b.test.ts imports library, which is for app/low',
    'app/high/b.ts imports library, which is for app/low',
    'app/lower/c.ts imports library, which is for app/low',
  ]);
});

test('rooms: if an app loads a folder that its list lacks, the folder is named with the chain of files that loads it', () => {
  const files = [
    at('gateway/a.ts', '../shared/low/b.ts', '../shared/listed/deep/e.ts'),
    at('shared/low/b.ts', '../high/c.ts'),
    at('shared/high/c.ts'),
    at('shared/listed/deep/e.ts'),
    at('gateway/a.test.ts', '../shared/for-tests/f.ts'),
    at('shared/for-tests/f.ts'),
  ];
  expect(findUnlistedRooms(files, { gateway: ['low', 'listed'] })).toEqual([
    'gateway may not load shared/high: gateway/a.ts loads shared/low/b.ts loads shared/high/c.ts',
  ]);
  expect(findUnlistedRooms(files, { gateway: ['low', 'listed', 'high/c.ts'] })).toEqual([]);
  // The room `hi` does not cover the room `high`, although the name of `high` begins with `hi`.
  expect(findUnlistedRooms(files, { gateway: ['low', 'listed', 'hi'] })).toHaveLength(1);
});

test('doors: code outside a folder may import only the files listed in its door, even for types, and each listed file is used', () => {
  const doors = { room: ['face.ts', 'deep/part.ts'] };
  const allowed = [
    at('app/a.ts', '../shared/room/face.ts', '../shared/open/b.ts'),
    at('shared/open/b.ts', '../room/deep/part.ts'),
    at('shared/room/face.ts', './inner.ts'),
    at('app/a.test.ts', '../shared/room/inner.ts'),
  ];
  expect(findPastDoors(allowed, doors)).toEqual([]);
  const type = { path: 'app/c.ts', text: `import type { Inner } from '../shared/room/deep/inner.ts';` };
  expect(findPastDoors([...allowed, at('shared/open/d.ts', '../room/inner.ts'), type], doors)).toEqual([
    'app/c.ts imports shared/room/deep/inner.ts, which is inside of shared/room: its door is in layers/doors.ts',
    'shared/open/d.ts imports shared/room/inner.ts, which is inside of shared/room: its door is in layers/doors.ts',
  ]);
  expect(findPastDoors(allowed, { room: [...doors.room, 'old.ts'] })).toEqual([
    'the door of shared/room lists shared/room/old.ts, which the outside does not import',
  ]);
});

test.each([
  ["import type { D } from './d.ts';", 0],
  ["export type { D } from './d.ts';", 0],
  ["const d = await import('./d.ts');", 0],
  ["import { type D, d } from './d.ts';", 1],
  ["import {\n  d,\n} from './d.ts';", 1],
  ["export { d } from './d.ts';", 1],
  ["import './d.ts';", 1],
])('rooms: %j loads %d files', (text, times) => {
  const files = [at('gateway/a.ts', '../shared/a.ts'), { path: 'shared/a.ts', text }, at('shared/d.ts')];
  expect(findUnlistedRooms(files, { gateway: ['a.ts'] })).toHaveLength(times);
});

test('roots: a file at the top of an app that imports too many modules is named, but lists and tests are not', () => {
  const two = ['./low/a.ts', './low/b.ts'];
  const files = ['app/start.ts', 'app/list.ts', 'app/start.test.ts', 'app/low/c.ts', 'other/start.ts'].map((path) =>
    at(path, ...two),
  );
  const roots = { apps: ['app'], modulesMax: 1, lists: ['app/list.ts'] };
  expect(findCrowdedRoots(files, roots)).toEqual(['app/start.ts imports 2 modules, more than 1: split it by concern']);
  expect(findCrowdedRoots([at('app/start.ts', './low/a.ts', './low/a.ts')], roots)).toEqual([]);
});

test('weight: a process that loads too many lines is named with its heaviest folders; types and late imports do not count', () => {
  const of = (path: string, lines: number, text = '') => ({ path, text: text + '\n'.repeat(lines) });
  const files = [
    of('app/main.ts', 2, `import { a } from './low/a.ts';\nimport type { T } from './low/type.ts';\n`),
    of('app/low/a.ts', 10, `import { b } from '../../shared/room/b.ts';\nconst c = await import('./late.ts');\n`),
    of('app/low/type.ts', 100),
    of('app/low/late.ts', 100),
    of('shared/room/b.ts', 30),
  ];
  expect(findHeavyProcesses(files, { 'app/main.ts': 46 })).toEqual([]);
  expect(findHeavyProcesses(files, { 'app/main.ts': 45 })).toEqual([
    'app/main.ts loads 46 lines, more than 45: shared/room 30, app/low 12, app 4',
  ]);
});
