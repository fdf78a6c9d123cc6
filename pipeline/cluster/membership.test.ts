import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownerOf } from './membership.ts';

const actors = Array.from({ length: 300 }, (_, i) => `dispatcher-${i}`);

test('ownership: without an instance an actor has no owner', () => {
  expect(ownerOf('resolver-0', [])).toBeUndefined();
});

test('ownership: property: an actor has one owner, whatever the order of the known instances', () => {
  const instances = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(instances, fc.string(), (known, actorId) => {
      const owner = ownerOf(actorId, known);
      expect(known).toContain(owner);
      expect(ownerOf(actorId, known.toReversed())).toBe(owner);
    }),
  );
});

test('ownership: property: when an instance leaves, only its own actors move', () => {
  const instances = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(instances, (known) => {
      const [gone, ...left] = known;
      for (const actorId of actors.slice(0, 40)) {
        const before = ownerOf(actorId, known);
        expect(before === gone || ownerOf(actorId, left) === before).toBe(true);
      }
    }),
  );
});

test('ownership: actors are spread about evenly', () => {
  const owned = actors.filter((actorId) => ownerOf(actorId, ['a', 'b', 'c']) === 'a').length;
  expect(owned).toBeGreaterThan(60);
  expect(owned).toBeLessThan(140);
});
