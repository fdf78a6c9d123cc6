import type { JsonObject } from '../../runtime/json.ts';
import { renameMembers } from './json.ts';
import { choice } from './settings.ts';
import type { Setting } from './settings.ts';

/** The naming of traits that are sent unchanged. */
export type TraitNames = 'own' | 'segment';

/** The trait names of Segment's and RudderStack's Identify call that differ from ours, by our name. */
const segmentNames: ReadonlyMap<string, string> = new Map([
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['phone_number', 'phone'],
  ['job_title', 'title'],
  ['date_of_birth', 'birthday'],
  ['zip', 'postalCode'],
  ['company_name', 'company'],
]);

export function traitNames(): Setting<TraitNames> {
  return choice({
    label: 'Trait names',
    options: [
      { label: 'Sluice (first_name, phone_number)', value: 'own' },
      { label: 'Segment (firstName, phone)', value: 'segment' },
    ],
    sublabel:
      'The names under which traits are sent. Choose Segment for templates and campaigns that were made for Segment or RudderStack.',
    fallback: 'own',
  });
}

const ownNames: ReadonlyMap<string, string> = new Map([...segmentNames].map(([own, segment]) => [segment, own]));

/** Trait names from a setting, and for each of Segment's names also our name. */
export function withOwnNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => [name, ownNames.get(name) ?? name]))];
}

/**
 * Traits under the names that a destination uses. A custom trait that already has a Segment name keeps
 * it.
 */
export function namedTraits(traits: JsonObject, names: TraitNames): JsonObject {
  return names === 'own' ? traits : { ...renameMembers(traits, segmentNames), ...ofSegment(traits) };
}

function ofSegment(traits: JsonObject): JsonObject {
  const known = [...segmentNames.values()].filter((name) => traits[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, traits[name]]));
}
