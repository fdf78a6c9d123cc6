import type { RecentEventRecord } from '../events/recent-events.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

export type EventPath = { readonly path: string; readonly events: number; readonly example: string };

export const pathsMax = 1_000;
const depthMax = 5;
const pathCharactersMax = 500;
const exampleCharactersMax = 80;

/**
 * Paths that lead to a value in some of the events, the most frequent first. The first item of a list stands for all
 * items. Pure.
 */
export function findEventPaths(records: readonly RecentEventRecord[]): EventPath[] {
  const found = new Map<string, { events: number; example: string }>();
  for (const { body } of records) {
    const add = (path: string, value: unknown, depth: number): void => {
      if (path.length > pathCharactersMax || value === null || value === undefined) return;
      if (typeof value === 'object') {
        if (depth === depthMax) return;
        const members = Array.isArray(value) ? [['0', value[0]] as const] : Object.entries(value);
        for (const [name, inner] of members) add(`${path}.${name}`, inner, depth + 1);
        return;
      }
      const known = found.get(path);
      if (known !== undefined) known.events += 1;
      else if (found.size < pathsMax) {
        found.set(path, { events: 1, example: textOfScalar(value).slice(0, exampleCharactersMax) });
      }
    };
    for (const [holder, path] of holders) {
      const value = body[holder];
      if (isJsonObject(value)) add(path, value, 0);
    }
  }
  return [...found]
    .map(([path, one]) => ({ path, ...one }))
    .toSorted((a, b) => b.events - a.events || (a.path < b.path ? -1 : 1));
}

function textOfScalar(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const holders = [
  ['event_properties', 'event.event_properties'],
  ['context', 'event.context'],
  ['visitor', 'visitor'],
] as const;
