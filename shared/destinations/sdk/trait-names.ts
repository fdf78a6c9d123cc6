import type { JsonObject } from '../../runtime/json.ts';
import { renameMembers } from './json.ts';
import { choice } from './settings.ts';
import type { Setting } from './settings.ts';

/** How the properties of a person are named where they go out as they are. */
export type TraitNames = 'own' | 'segment';

/** Names of the traits in the Identify call of Segment and RudderStack, where ours differ. */
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
    label: 'Names of traits',
    options: [
      { label: 'Ours (first_name, phone_number)', value: 'own' },
      { label: "Segment's (firstName, phone)", value: 'segment' },
    ],
    sublabel:
      "Under which names people's properties go out. Templates and campaigns that were made for Segment or RudderStack use theirs.",
    fallback: 'own',
  });
}

const ownNames: ReadonlyMap<string, string> = new Map([...segmentNames].map(([own, segment]) => [segment, own]));

/** Names of traits as a setting gives them, with ours for those that are given as Segment has them. */
export function withOwnNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => [name, ownNames.get(name) ?? name]))];
}

/** Traits under the names that a destination wants. What the person has under such a name itself stays. */
export function namedTraits(traits: JsonObject, names: TraitNames): JsonObject {
  return names === 'own' ? traits : { ...renameMembers(traits, segmentNames), ...ofSegment(traits) };
}

function ofSegment(traits: JsonObject): JsonObject {
  const known = [...segmentNames.values()].filter((name) => traits[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, traits[name]]));
}
