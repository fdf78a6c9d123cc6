import { posix } from 'node:path';
import { importedFiles, isForTests, loadedFiles } from './read-imports.ts';
import type { Imports, SourceFile } from './read-imports.ts';

/**
 * Files of `shared` that an app loads, directly or through other files, from a room that is not among those listed for the
 * app: one sentence a room, with the chain of imports that leads there. Types load nothing, and a dynamic import loads
 * what it names only when it is called; neither counts.
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

/** The shortest chain of loads from any file of an app to each file it leads to. */
function chainsFrom(app: string, loads: Imports): readonly (readonly string[])[] {
  const chains = [...loads.keys()].filter((path) => path.startsWith(`${app}/`)).map((path) => [path]);
  const reached = new Set(chains.flat());
  // The list grows while it is read.
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
 * Imports that reach into a room of `shared` past its door, the files that are listed for it, and files that a door lists
 * without need: one sentence each. Types count; tests may look inside.
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
 * Processes that load more lines of ours at their start than they may, by the file they start with: one sentence each,
 * with the heaviest folders. Dynamic imports do not count: they are loaded later, if a process needs them.
 */
export function findHeavyProcesses(files: readonly SourceFile[], linesMax: Readonly<Record<string, number>>): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return Object.entries(linesMax).flatMap(([start, most]) => {
    const loaded = new Set([start]);
    // The set grows while it is read.
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
