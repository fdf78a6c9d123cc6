import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileIntegrations } from '../routing/integrations.ts';
import { destinationKinds, plannedKind } from './registry.ts';

type Names = {
  readonly kinds: Readonly<
    Record<
      string,
      {
        /**
         * Names of a destination in Segment's catalogue, by its id there: first the current name, then earlier names.
         */
        readonly segment?: Readonly<Record<string, readonly string[]>>;
        /** The displayed name of a destination in RudderStack, by the name of its definition. */
        readonly rudderstack?: Readonly<Record<string, string>>;
      }
    >
  >;
};

const { kinds } = JSON.parse(readFileSync(new URL('testing/names-elsewhere.json', import.meta.url), 'utf8')) as Names;

const published = Object.entries(kinds).flatMap(([type, { segment = {}, rudderstack = {} }]) =>
  [...new Set([...Object.values(segment).flat(), ...Object.entries(rudderstack).flat()])].map(
    (name) => [type, name] as const,
  ),
);

test.each(published)('names elsewhere: %s is meant by "%s"', (type, name) => {
  const isWanted = compileIntegrations({ type, name: '' }, plannedKind(type).namesElsewhere);
  expect(isWanted(JSON.stringify({ [name]: false }))).toBe(false);
  expect(isWanted(JSON.stringify({ All: false, [name]: true }))).toBe(true);
});

test('names elsewhere: every kind in the catalogues is a kind that this build offers', () => {
  const ids = new Set(destinationKinds.map(({ descriptor }) => descriptor.id));
  expect(Object.keys(kinds).filter((type) => !ids.has(type))).toEqual([]);
});
