import { readFileSync } from 'node:fs';

/** The version of this build, from the package.json above this file, compiled or not. */
export const version: string = readVersion();

function readVersion(): string {
  for (let folder = new URL('../', import.meta.url); folder.pathname !== '/'; folder = new URL('../', folder)) {
    try {
      const { version: found } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
        version?: string;
      };
      if (found !== undefined) return found;
    } catch {
      // This folder has no package.json.
    }
  }
  return 'unknown';
}

/**
 * Whether `one` is newer than `other`, by the first of their three numbers that differs. A part that is not a number
 * counts as 0.
 */
export function isNewer(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => text.split(/[.+-]/, 3).map((part) => Number(part) || 0));
  for (let place = 0; place < 3; place += 1) {
    const difference = (left?.[place] ?? 0) - (right?.[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}
