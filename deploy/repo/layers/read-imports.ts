import { posix } from 'node:path';

export type SourceFile = {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
};

/** What each file imports, by its path. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Whether a file is a test or helps tests. */
export function isForTests(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || posix.dirname(path).split('/').includes('testing');
}

// Formatted code has one way to write each of these.
const importing =
  /^(?:import|export)\b[^'"]*?\bfrom\s+'(?<from>[^']+)'|^import\s+'(?<effect>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'\s*\)/gm;

/** The files of the repository that a file imports, types included. */
export function importedFiles(path: string, text: string): readonly string[] {
  return importedSpecifiers(text)
    .filter((specifier) => specifier.startsWith('.') && !/\.(css|svg)$/.test(specifier))
    .map((specifier) => posix.normalize(posix.join(posix.dirname(path), specifier)));
}

const loading = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\bfrom\s+)?'(?<specifier>\.[^']+)'/gm;

/** The files of the repository that are loaded with a file. */
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
