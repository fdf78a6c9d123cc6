import { posix } from 'node:path';
import { importedFiles, isForTests, loadedFiles } from './read-imports.ts';
import type { Imports, SourceFile } from './read-imports.ts';

/**
 * Rooms of `shared` that are not listed for an app although the app loads a file from them, directly or through other
 * files: one sentence per room, with the chain of imports that leads to it. Imports of types load nothing and do not
 * count; dynamic imports load later and do not count, either.
 */
export function findUnlistedRooms(
  files: readonly SourceFile[],
  rooms: Readonly<Record<string, readonly string[]>>,
): string[] {
  const loads = new Map(
    files.filter(({ path }) => !isForTests(path)).map(({ path, text }) => [path, loadedFiles(path, text)]),
  );
  return Object.entries(rooms).flatMap(([app, listed]) => {
    const violations = new Map<string, string>();
    for (const chain of chainsFrom(app, loads)) {
      const file = chain.at(-1) ?? '';
      if (!file.startsWith('shared/') || listed.some((name) => `${file}/`.startsWith(`shared/${name}/`))) continue;
      const room = posix.dirname(file);
      if (!violations.has(room)) violations.set(room, `${app} may not load ${room}: ${chain.join(' loads ')}`);
    }
    return [...violations.values()].toSorted();
  });
}

/** For each file that an app loads: the shortest chain of imports to it from any file of the app. */
function chainsFrom(app: string, loads: Imports): readonly (readonly string[])[] {
  const chains = [...loads.keys()].filter((path) => path.startsWith(`${app}/`)).map((path) => [path]);
  const reached = new Set(chains.flat());
  // The loop also visits chains that are added to the list meanwhile.
  for (const chain of chains) {
    for (const target of loads.get(chain.at(-1) ?? '') ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      chains.push([...chain, target]);
    }
  }
  return chains;
}

/**
 * Imports of files of a `shared` room that its door (the list of its importable files) does not name, and files that a
 * door lists without need, one sentence each. Imports of types count; tests may import any file.
 */
export function findPastDoors(
  files: readonly SourceFile[],
  doors: Readonly<Record<string, readonly string[]>>,
): string[] {
  const violations: string[] = [];
  const listed = new Map<string, string>(
    Object.entries(doors).flatMap(([room, paths]) => paths.map((path) => [`shared/${room}/${path}`, room] as const)),
  );
  const used = new Set<string>();
  for (const { path, text } of files) {
    if (isForTests(path)) continue;
    for (const target of new Set(importedFiles(path, text))) {
      const [app, room = '', ...rest] = target.split('/');
      if (app !== 'shared' || rest.length === 0 || path.startsWith(`shared/${room}/`)) continue;
      used.add(target);
      if (doors[room] === undefined || listed.has(target)) continue;
      violations.push(`${path} imports ${target}, which is inside of shared/${room}: its door is in layers/doors.ts`);
    }
  }
  for (const [path, room] of listed) {
    if (!used.has(path)) violations.push(`the door of shared/${room} lists ${path}, which the outside does not import`);
  }
  return violations.toSorted();
}

const foldersNamed = 5;

/**
 * Processes that load too many lines of our code at their start, one sentence each, with the largest folders.
 * `linesMax` is by the process's first file. Dynamic imports do not count, because they load later, if at all.
 */
export function findHeavyProcesses(files: readonly SourceFile[], linesMax: Readonly<Record<string, number>>): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return Object.entries(linesMax).flatMap(([start, most]) => {
    const loaded = new Set([start]);
    // The loop also visits files that are added to the set meanwhile.
    for (const path of loaded) for (const target of loadedFiles(path, texts.get(path) ?? '')) loaded.add(target);
    const byFolder = new Map<string, number>();
    for (const path of loaded) {
      const folder = posix.dirname(path);
      byFolder.set(folder, (byFolder.get(folder) ?? 0) + (texts.get(path) ?? '').split('\n').length - 1);
    }
    const lines = [...byFolder.values()].reduce((sum, one) => sum + one, 0);
    if (lines <= most) return [];
    const heaviest = [...byFolder].toSorted(([, a], [, b]) => b - a).slice(0, foldersNamed);
    const named = heaviest.map(([folder, own]) => `${folder} ${own}`).join(', ');
    return [`${start} loads ${lines} lines, more than ${most}: ${named}`];
  });
}
