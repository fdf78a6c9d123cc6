import { posix } from 'node:path';
import { importedFiles, importedSpecifiers, isForTests } from './read-imports.ts';
import type { Imports, SourceFile } from './read-imports.ts';

type Layers = Readonly<Record<string, readonly string[]>>;

/** The apps that each app may import. An app that is not listed may import any. */
type Walls = Readonly<Record<string, readonly string[]>>;

/**
 * The features of each app (folders side by side above its layers), each with the sibling features that it may import.
 */
type Features = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** A file's layer: its app, and the height of its folder in the app. */
type Place = { readonly app: string; readonly folder: string; readonly height: number };

/**
 * Imports that go up or cross a wall between apps, cycles of imports, and folders without a layer, one sentence each.
 * Types and dynamic imports count. Tests, and files that only tests use, may import any room of their app.
 */
export function findLayerViolations(
  files: readonly SourceFile[],
  layers: Layers,
  walls: Walls = {},
  features: Features = {},
): string[] {
  const imports = new Map(files.map(({ path, text }) => [path, importedFiles(path, text)]));
  const upward = findUpward(imports, layers, features);
  const violations = [...upward, ...findThroughWalls(imports, walls), ...findCircles(imports)];
  return violations.toSorted();
}

/** Edges between features that no import needs, one sentence each. Imports of tests need no edge. */
export function findUnusedEdges(files: readonly SourceFile[], features: Features): string[] {
  return Object.entries(features).flatMap(([app, edges]) => {
    const used = new Set(
      files
        .filter(({ path }) => !isForTests(path))
        .flatMap(({ path, text }) =>
          importedFiles(path, text).map((target) => `${posix.dirname(path)} ${posix.dirname(target)}`),
        ),
    );
    return Object.entries(edges).flatMap(([from, targets]) =>
      targets
        .filter((to) => !used.has(`${app}/${from} ${app}/${to}`))
        .map((to) => `${app}/${from} imports nothing of ${app}/${to}: its edge is not needed`),
    );
  });
}

/** Matches code that searches or writes JSON as bytes: a buffer that contains a member's name and its colon. */
const spelledMember = /Buffer\.from\(\s*['`][^'`]*":/;
const spellers = ['shared/contracts/'];

/** Files outside of contracts that spell out the bytes of data between processes. */
export function findSpelledBytes(files: readonly SourceFile[]): string[] {
  return files
    .filter(
      ({ path, text }) =>
        !isForTests(path) && !spellers.some((folder) => path.startsWith(folder)) && spelledMember.test(text),
    )
    .map(({ path }) => `${path} spells the bytes of a JSON member, which shared/contracts alone does`);
}

/**
 * Imports of reserved packages and files by folders that may not import them. `reserved`: allowed folders by package or
 * path.
 */
export function findReserved(
  files: readonly SourceFile[],
  reserved: Readonly<Record<string, readonly string[]>>,
): string[] {
  const violations: string[] = [];
  for (const { path, text } of files) {
    const packages = importedSpecifiers(text).filter((specifier) => !specifier.startsWith('.'));
    const looked = isForTests(path) ? packages : [...packages, ...importedFiles(path, text)];
    for (const target of new Set(looked)) {
      const folders = Object.hasOwn(reserved, target) ? reserved[target] : undefined;
      if (folders === undefined || folders.some((folder) => path.startsWith(`${folder}/`))) continue;
      violations.push(`${path} imports ${target}, which is for ${folders.join(' and ')}`);
    }
  }
  return violations.toSorted();
}

export type Roots = {
  readonly apps: readonly string[];
  readonly modulesMax: number;
  readonly lists: readonly string[];
};

/** Composition roots that import more than `modulesMax` modules, one sentence each. */
export function findCrowdedRoots(files: readonly SourceFile[], { apps, modulesMax, lists }: Roots): string[] {
  return files.flatMap(({ path, text }) => {
    if (!apps.includes(posix.dirname(path)) || isForTests(path) || lists.includes(path)) return [];
    const modules = new Set(importedSpecifiers(text)).size;
    return modules > modulesMax
      ? [`${path} imports ${modules} modules, more than ${modulesMax}: split it by concern`]
      : [];
  });
}

function findUpward(imports: Imports, layers: Layers, features: Features): Iterable<string> {
  const violations = new Set<string>();
  for (const [path, targets] of imports) {
    if (isForTests(path)) continue;
    const from = placeOf(path, layers, features);
    if (from === 'unknown') {
      violations.add(`${posix.dirname(path)} has no place among the layers`);
      continue;
    }
    if (from === undefined) continue;
    for (const target of targets) {
      const to = placeOf(target, layers, features);
      if (to === undefined || to === 'unknown' || to.app !== from.app || to.folder === from.folder) continue;
      if (isForTests(target)) violations.add(`${path} imports ${target}, which is for tests`);
      else if (areFeatures(from, to, features)) {
        if (!features[from.app]?.[from.folder]?.includes(to.folder))
          violations.add(`${path} imports ${target}, but ${from.folder} declares no edge to ${to.folder}`);
      } else if (to.height >= from.height) violations.add(`${path} imports ${target}, which stands above it`);
    }
  }
  return violations;
}

function findThroughWalls(imports: Imports, walls: Walls): Iterable<string> {
  const violations = new Set<string>();
  for (const [path, targets] of imports) {
    const app = appOf(path, walls);
    const allowed = walls[app];
    if (allowed === undefined) continue;
    for (const target of targets) {
      const other = appOf(target, walls);
      if (other === app || allowed.includes(other)) continue;
      violations.add(`${path} imports ${target}, but ${app} may not import ${other}`);
    }
  }
  return violations;
}

/** The app of a file. An app can be within another app's folder, with its own layers: the longest path decides. */
function appOf(path: string, apps: Readonly<Record<string, unknown>>): string {
  const parts = posix.dirname(path).split('/');
  for (let length = parts.length; length > 1; length -= 1) {
    const name = parts.slice(0, length).join('/');
    if (apps[name] !== undefined) return name;
  }
  return parts[0] ?? '';
}

/**
 * Cycles of imports, one sentence each. A depth-first search finds every cycle at least once.
 */
function findCircles(imports: Imports): Iterable<string> {
  const violations = new Set<string>();
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (path: string): void => {
    if (done.has(path)) return;
    const start = way.indexOf(path);
    if (start !== -1) {
      violations.add(`${[...way.slice(start), path].join(' imports ')}: a circle`);
      return;
    }
    way.push(path);
    for (const target of imports.get(path) ?? []) visit(target);
    way.pop();
    done.add(path);
  };
  for (const path of imports.keys()) visit(path);
  return violations;
}

function areFeatures(from: Place, to: Place, features: Features): boolean {
  const ofApp = features[from.app];
  return ofApp?.[from.folder] !== undefined && ofApp[to.folder] !== undefined;
}

function placeOf(path: string, layers: Layers, features: Features): Place | 'unknown' | undefined {
  const app = appOf(path, layers);
  const order = layers[app];
  if (order === undefined) return undefined;
  const folder = posix.dirname(path).slice(app.length + 1);
  if (folder === '') return { app, folder, height: order.length + 1 };
  if (features[app]?.[folder] !== undefined) return { app, folder, height: order.length };
  const named = order.indexOf(folder);
  const height = named === -1 ? order.indexOf(posix.join(posix.dirname(folder), '*')) : named;
  return height === -1 ? 'unknown' : { app, folder, height };
}
