import { posix } from 'node:path';

export type SourceFile = {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
};

type Layers = Readonly<Record<string, readonly string[]>>;

/** Where a file stands: its app and the height of its folder there; undefined for one that may import anything. */
type Place = { readonly app: string; readonly folder: string; readonly height: number };

/**
 * Imports that go up, types and dynamic ones included, and folders that have no place, one sentence each. Tests and what
 * only they use may import any room of their app: they stand above it.
 */
export function findLayerViolations(files: readonly SourceFile[], layers: Layers): string[] {
  const violations = new Set<string>();
  for (const { path, text } of files) {
    if (isForTests(path)) continue;
    const from = placeOf(path, layers);
    if (from === 'unknown') {
      violations.add(`${posix.dirname(path)} has no place among the layers`);
      continue;
    }
    if (from === undefined) continue;
    for (const target of importedFiles(path, text)) {
      const to = placeOf(target, layers);
      if (to === undefined || to === 'unknown' || to.app !== from.app || to.folder === from.folder) continue;
      if (isForTests(target)) violations.add(`${path} imports ${target}, which is for tests`);
      else if (to.height >= from.height) violations.add(`${path} imports ${target}, which stands above it`);
    }
  }
  return [...violations].toSorted();
}

function placeOf(path: string, layers: Layers): Place | 'unknown' | undefined {
  const [app = '', ...rest] = posix.dirname(path).split('/');
  const order = layers[app];
  if (order === undefined) return undefined;
  const folder = rest.join('/');
  if (folder === '') return { app, folder, height: order.length };
  const height = order.indexOf(folder);
  return height === -1 ? 'unknown' : { app, folder, height };
}

function isForTests(path: string): boolean {
  return path.endsWith('.test.ts') || posix.dirname(path).split('/').includes('testing');
}

// Formatted code has one way to write each of these.
const importing =
  /^(?:import|export)\b[^'"]*?\bfrom\s+'(?<from>[^']+)'|^import\s+'(?<effect>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'\s*\)/gm;

/** The files of the repository that a file imports, types included. */
function importedFiles(path: string, text: string): readonly string[] {
  const specifiers = [...text.matchAll(importing)].map(
    ({ groups }) => groups?.['from'] ?? groups?.['effect'] ?? groups?.['dynamic'] ?? '',
  );
  return specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.normalize(posix.join(posix.dirname(path), specifier)));
}
