import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { anyEdit, anySnapshot, applyEdits } from '../testing/snapshot-arbitraries.ts';
import { diffSnapshots, entityStatus } from './diff.ts';
import type { Diff, EntityStatus } from './diff.ts';
import { changedEntities, planRevert } from './undo-changes.ts';
import type { EntityRef, RevertPlan } from './undo-changes.ts';
import { allowlistCollections, composeSnapshot } from './create-version.ts';
import type { AllowlistName, Allowlists } from './create-version.ts';
import { buildSnapshot, emptySnapshot, withoutDraftExperiments } from '../draft/snapshot.ts';

const edits = fc.array(anyEdit, { maxLength: 40 });
const publishable = anySnapshot.map(withoutDraftExperiments);
const tagManagerLists = ['includeTagManagerTags', 'includeTagManagerTriggers', 'includeTagManagerVariables'] as const;

/** The verdict of a diff on each entity it names. */
function verdicts(diff: Diff): Map<string, EntityStatus> {
  const found = new Map<string, EntityStatus>();
  for (const [name, { added, removed, modified }] of Object.entries(diff.differences)) {
    for (const { id } of added) found.set(`${name}/${id}`, 'added');
    for (const { id } of removed) found.set(`${name}/${id}`, 'removed');
    for (const pair of modified) found.set(`${name}/${pair.new.id}`, 'modified');
  }
  return found;
}

/** What a reader with pen and paper would say: compares entity by entity. */
function naiveVerdicts(baseline: Snapshot, target: Snapshot): Map<string, EntityStatus> {
  const found = new Map<string, EntityStatus>();
  for (const name of collectionNames) {
    for (const id of ['a', 'b', 'c', 'd']) {
      const before = baseline[name].find((one) => one.id === id)?.['value'];
      const after = target[name].find((one) => one.id === id)?.['value'];
      if (before === after) continue;
      found.set(`${name}/${id}`, before === undefined ? 'added' : after === undefined ? 'removed' : 'modified');
    }
  }
  return found;
}

function applyPlan(draft: Snapshot, plan: RevertPlan): Snapshot {
  return buildSnapshot((name) => {
    const entities = new Map(draft[name].map((one) => [one.id, one]));
    for (const step of plan.steps) {
      if (step.collection !== name) continue;
      if (step.kind === 'remove') entities.delete(step.id);
      else entities.set(step.entity.id, step.entity);
    }
    return [...entities.values()];
  });
}

const allTagManagerIds = (draft: Snapshot, published: Snapshot): Allowlists =>
  Object.fromEntries(
    tagManagerLists.map((list) => {
      const collection = allowlistCollections[list];
      return [list, [...draft[collection], ...published[collection]].map(({ id }) => id)];
    }),
  );

test('diff: for any edits, equals a comparison entity by entity, and counts the differences', () => {
  fc.assert(
    fc.property(anySnapshot, edits, (baseline, changes) => {
      const target = applyEdits(baseline, changes);
      const diff = diffSnapshots(baseline, target);
      expect(verdicts(diff)).toEqual(naiveVerdicts(baseline, target));
      expect(diff.count).toBe(verdicts(diff).size);
      expect(Object.keys(diff.differences)).toEqual([...collectionNames]);
    }),
  );
});

test('diff: a snapshot has no differences from itself, whatever its key order and creation times', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const turned = buildSnapshot((name) =>
        snapshot[name].map((one) => ({
          ...Object.fromEntries(Object.entries(one).toReversed()),
          id: one.id,
          createdAt: new Date(9).toISOString(),
        })),
      );
      expect(diffSnapshots(snapshot, turned).count).toBe(0);
    }),
  );
});

test('status: agrees with the diff for every entity', () => {
  fc.assert(
    fc.property(anySnapshot, edits, (baseline, changes) => {
      const target = applyEdits(baseline, changes);
      const expected = verdicts(diffSnapshots(baseline, target));
      for (const name of collectionNames) {
        for (const id of ['a', 'b', 'c', 'd', 'never']) {
          expect(entityStatus(baseline, target, name, id)).toBe(expected.get(`${name}/${id}`) ?? null);
        }
      }
    }),
  );
});

test('revert: reverting everything that changed leaves an empty diff, and the counts match the changes', () => {
  fc.assert(
    fc.property(publishable, edits, (published, changes) => {
      const draft = withoutDraftExperiments(applyEdits(published, changes));
      const before = [...verdicts(diffSnapshots(published, draft)).values()];
      const plan = planRevert(published, draft, changedEntities(published, draft));
      expect(diffSnapshots(published, applyPlan(draft, plan)).count).toBe(0);
      expect(plan).toMatchObject({
        revertedCount: before.filter((one) => one === 'modified').length,
        restoredCount: before.filter((one) => one === 'removed').length,
        discardedCount: before.filter((one) => one === 'added').length,
        notFoundCount: 0,
      });
    }),
  );
});

test('revert: reverting some entities undoes only their changes', () => {
  const refs = fc.array(
    fc.record({
      collection: fc.constantFrom(...collectionNames),
      id: fc.constantFrom('a', 'b', 'c', 'd', 'never', 'nor this'),
    }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(anySnapshot, edits, refs, (published, changes, chosen: EntityRef[]) => {
      const draft = applyEdits(published, changes);
      const plan = planRevert(published, draft, [...chosen, ...chosen]);
      const expected = verdicts(diffSnapshots(published, draft));
      for (const { collection, id } of chosen) expected.delete(`${collection}/${id}`);
      expect(verdicts(diffSnapshots(published, applyPlan(draft, plan)))).toEqual(expected);
      const isAbsent = ({ collection, id }: EntityRef): boolean =>
        ![...published[collection], ...draft[collection]].some((one) => one.id === id);
      const absent = new Set(chosen.filter(isAbsent).map(({ collection, id }) => `${collection}/${id}`));
      expect(plan.notFoundCount).toBe(absent.size);
    }),
  );
});

test('publishing: publishing the whole draft leaves nothing to publish, and draft experiments are not in the version', () => {
  fc.assert(
    fc.property(publishable, edits, (published, changes) => {
      const draft = applyEdits(published, changes);
      const version = composeSnapshot(published, draft, allTagManagerIds(draft, published));
      expect(diffSnapshots(version, withoutDraftExperiments(draft)).count).toBe(0);
      expect(version.experiments.every((one) => one['status'] !== 'Draft')).toBe(true);
    }),
  );
});

test('scoped publishing: takes exactly the changes the allowlists name', () => {
  const listNames = Object.keys(allowlistCollections) as AllowlistName[];
  const list = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'never'), { maxLength: 4 }));
  const anyLists = fc.record(Object.fromEntries(listNames.map((name) => [name, list])), { requiredKeys: [] });
  fc.assert(
    fc.property(publishable, edits, anyLists, (published, changes, allowlists) => {
      const draft = applyEdits(published, changes);
      const limits = new Map<CollectionName, readonly string[] | undefined>();
      for (const name of listNames) {
        const ids = (allowlists as Allowlists)[name] ?? [];
        const tagManager = (tagManagerLists as readonly string[]).includes(name);
        limits.set(allowlistCollections[name], ids.length > 0 || tagManager ? ids : undefined);
      }
      const expected = verdicts(diffSnapshots(published, withoutDraftExperiments(draft)));
      for (const key of expected.keys()) {
        const [collection, id] = key.split('/') as [CollectionName, string];
        if (limits.get(collection)?.includes(id) === false) expected.delete(key);
      }
      const version = composeSnapshot(published, draft, allowlists);
      expect(verdicts(diffSnapshots(published, version))).toEqual(expected);
    }),
  );
});

test('diff: before the first publish everything is added', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const total = collectionNames.reduce((sum, name) => sum + snapshot[name].length, 0);
      const { count, differences } = diffSnapshots(emptySnapshot, snapshot);
      expect(count).toBe(total);
      expect(Object.values(differences).every((one) => one.removed.length + one.modified.length === 0)).toBe(true);
    }),
  );
});
