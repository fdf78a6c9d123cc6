import { PlanError } from '../values/plan-error.ts';
import { pathCharactersMax, pathSegmentsMax } from '../values/rule-limits.ts';

/** The part of an event that a rule reads. */
export type PlanRoot = 'properties' | 'context' | 'visitor';

/** A path of a rule: the part of the event, and the names to follow from there. */
export type PlanPath = { readonly root: PlanRoot; readonly names: readonly string[] };

const roots: Readonly<Record<string, PlanRoot>> = {
  event_properties: 'properties',
  default_properties: 'context',
  request_context: 'context',
  context: 'context',
  visitor: 'visitor',
};

/**
 * Reads the path of a rule: `event_properties.total`, `default_properties.current_url`, `visitor.email`, each also with
 * `event.` or `$` before it. A rule reads only what the event itself contains, not the stored visitor. Names are
 * compared exactly. Throws PlanError.
 */
export function compilePlanPath(path: string, field: string): PlanPath {
  const bare = path.trim().replace(/^\$/, '');
  if (bare.length > pathCharactersMax) throw new PlanError(field, `must be at most ${pathCharactersMax} characters`);
  const parts = bare.split('.');
  const [first = '', ...names] = parts[0] === 'event' ? parts.slice(1) : parts;
  const root = Object.hasOwn(roots, first) ? roots[first] : undefined;
  if (root === undefined || names.length === 0 || names.includes('')) {
    throw new PlanError(
      field,
      'must name a property of the event: event_properties.total, default_properties.current_url or visitor.email',
    );
  }
  return pathOf(root, names, field);
}

/**
 * Reads `event_properties.` and the name of a planned property, in which spaces and dots may stand anywhere. Throws
 * PlanError.
 */
export function compilePlannedPath(path: string, field: string): PlanPath {
  return pathOf('properties', path.split('.').slice(1), field);
}

function pathOf(root: PlanRoot, names: readonly string[], field: string): PlanPath {
  if (names.length > pathSegmentsMax) throw new PlanError(field, `must have at most ${pathSegmentsMax} segments`);
  return { root, names };
}
