import { posix } from 'node:path';

export type SourceFile = {
  /** Path of the file from the top of the repository. */
  readonly path: string;
  readonly text: string;
};

/** The paths of the files that each file imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Whether a file is a test or helps tests. */
export function isForTests(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || posix.dirname(path).split('/').includes('testing');
}

// A regular expression is enough, because formatted code writes each kind of import in one way.
const importing =
  /^(?:import|export)\b[^'"]*?\bfrom\s+'(?<from>[^']+)'|^import\s+'(?<effect>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'\s*\)/gm;

/** The files of the repository that a file imports, types included. */
export function importedFiles(path: string, text: string): readonly string[] {
  return importedSpecifiers(text)
    .filter((specifier) => specifier.startsWith('.') && !/\.(css|svg)$/.test(specifier))
    .map((specifier) => posix.normalize(posix.join(posix.dirname(path), specifier)));
}

const loading = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s+)?'(?<specifier>\.[^']+)'/gm;

/** The files of the repository that loading a file also loads: without types and dynamic imports. */
export function loadedFiles(path: string, text: string): readonly string[] {
  return [...text.matchAll(loading)].map(({ groups }) =>
    posix.normalize(posix.join(posix.dirname(path), groups?.['specifier'] ?? '')),
  );
}

export function importedSpecifiers(text: string): readonly string[] {
  return [...text.matchAll(importing)].map(
    ({ groups }) => groups?.['from'] ?? groups?.['effect'] ?? groups?.['dynamic'] ?? '',
  );
}
