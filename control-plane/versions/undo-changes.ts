import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { refuseBeyondQuota } from '../draft/draft-quota.ts';
import { refuseTwins } from '../draft/refuse-twins.ts';
import { findEntity, fromSnapshotEntity, insertEntity, loadDraft, replaceBody } from '../draft/entity-store.ts';
import { diffSnapshots, statusOf } from './diff.ts';
import { indexById, withoutDraftExperiments } from '../draft/snapshot.ts';
import { liveContent } from './version-store.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import { collectionNames } from '../../shared/collections/registry.ts';

export type UndoResult = Omit<RevertPlan, 'steps'> & { readonly remainingChanges: number };

/**
 * Undoes the draft changes of the named entities, or all of them. Throws a 409 if restored entities would exceed a
 * limit, or if another entity of the draft has the unique name of one of the named entities.
 */
export async function undoChanges(editing: Editing, refs: readonly EntityRef[] | 'all'): Promise<UndoResult> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const published = await liveContent(em, accountId);
  const before = await loadDraft(em, accountId);
  const draft = withoutDraftExperiments(before);
  const { steps, ...counts } = planRevert(published, draft, refs === 'all' ? changedEntities(published, draft) : refs);
  for (const step of keepExperimentDrafts(steps, published, draft)) await apply(em, accountId, step, now);
  await refuseBeyondQuota(em, accountId, editing.limits);
  const after = await loadDraft(em, accountId);
  // Everything can always be undone: what is left are the live version and draft experiments.
  if (refs !== 'all') refuseTwins(before, after);
  const action = refs === 'all' ? 'draft.abandon' : 'draft.revert';
  if (steps.length > 0) recordAudit(em, principal, { action, details: counts }, now);
  return { ...counts, remainingChanges: diffSnapshots(published, withoutDraftExperiments(after)).count };
}

/**
 * After a rollback: removes from the draft the changes that the replaced version had made to the version that is live
 * again. Entities that were edited in the draft since keep their edits, and are counted.
 */
export async function takeOutOfDraft(
  editing: Editing,
  before: Snapshot,
): Promise<UndoResult & { readonly keptCount: number }> {
  const { em, principal } = editing;
  const live = await liveContent(em, principal.accountId);
  const draft = indexSnapshot(withoutDraftExperiments(await loadDraft(em, principal.accountId)));
  const rolledBack = indexSnapshot(before);
  const changed = changedEntities(live, before);
  const untouched = changed.filter(
    ({ collection, id }) => statusOf(rolledBack(collection, id), draft(collection, id)) === null,
  );
  return { ...(await undoChanges(editing, untouched)), keptCount: changed.length - untouched.length };
}

async function apply(em: EntityManager, accountId: string, step: UndoStep, now: Date): Promise<void> {
  switch (step.kind) {
    case 'remove': {
      const added = await findEntity(em, accountId, step.collection, step.id);
      if (added !== undefined) em.remove(added);
      return;
    }
    case 'unstart': {
      const started = await findEntity(em, accountId, 'experiments', step.id);
      if (started !== undefined) replaceBody(started, { ...started.body, ...unstarted }, now);
      return;
    }
    case 'write': {
      const { collection } = step;
      const { id, body, createdAt } = fromSnapshotEntity(step.entity);
      const row = await findEntity(em, accountId, collection, id);
      if (row === undefined) insertEntity(em, { accountId, collection, id, body, createdAt });
      else replaceBody(row, body, now);
    }
  }
}

const unstarted = { status: 'Draft', rolloutVariantId: null, winnerVariantId: null, startedAt: null, stoppedAt: null };

export type EntityRef = { readonly collection: CollectionName; readonly id: string };

/** The outcome for one entity of the draft. */
type RevertStep =
  | { readonly kind: 'write'; readonly collection: CollectionName; readonly entity: SnapshotEntity }
  | { readonly kind: 'remove'; readonly collection: CollectionName; readonly id: string };

export type RevertPlan = {
  readonly steps: readonly RevertStep[];
  readonly revertedCount: number;
  readonly restoredCount: number;
  readonly discardedCount: number;
  readonly notFoundCount: number;
};

/**
 * How to undo the changes of the named entities: a modified entity gets its published values, a removed entity is
 * restored, an added entity is removed. An entity in neither snapshot is not found; an unchanged entity stays. Pure.
 */
export function planRevert(published: Snapshot, draft: Snapshot, refs: readonly EntityRef[]): RevertPlan {
  const steps: RevertStep[] = [];
  const counts = { revertedCount: 0, restoredCount: 0, discardedCount: 0, notFoundCount: 0 };
  const publishedById = indexSnapshot(published);
  const draftById = indexSnapshot(draft);
  for (const { collection, id } of withoutRepeats(refs)) {
    const before = publishedById(collection, id);
    const after = draftById(collection, id);
    switch (statusOf(before, after)) {
      case 'added':
        counts.discardedCount += 1;
        steps.push({ kind: 'remove', collection, id });
        break;
      case 'modified':
      case 'removed':
        if (after === undefined) counts.restoredCount += 1;
        else counts.revertedCount += 1;
        if (before !== undefined) steps.push({ kind: 'write', collection, entity: before });
        break;
      case null:
        if (before === undefined) counts.notFoundCount += 1;
        break;
    }
  }
  return { steps, ...counts };
}

/** Every entity whose draft differs from the published version. */
export function changedEntities(published: Snapshot, draft: Snapshot): EntityRef[] {
  return collectionNames.flatMap((collection) => {
    const before = indexById(published[collection]);
    const after = indexById(draft[collection]);
    const ids = new Set([...before.keys(), ...after.keys()]);
    return [...ids].filter((id) => statusOf(before.get(id), after.get(id)) !== null).map((id) => ({ collection, id }));
  });
}

function indexSnapshot(snapshot: Snapshot): (collection: CollectionName, id: string) => SnapshotEntity | undefined {
  const indexes = new Map(collectionNames.map((name) => [name, indexById(snapshot[name])]));
  return (collection, id) => indexes.get(collection)?.get(id);
}

function withoutRepeats(refs: readonly EntityRef[]): EntityRef[] {
  return [...new Map(refs.map((ref) => [`${ref.collection}/${ref.id}`, ref])).values()];
}

/** A step of a revert, or the reset of a started experiment to a draft. */
type UndoStep = RevertStep | { readonly kind: 'unstart'; readonly id: string };

/**
 * Only changes that would be published are undone. An experiment that is not live is not removed: only its start is
 * undone, so it becomes a draft again and keeps its variants.
 */
function keepExperimentDrafts(steps: readonly RevertStep[], published: Snapshot, draft: Snapshot): UndoStep[] {
  const live = indexById(published.experiments);
  const ofOthers = new Set(
    draft.experimentVariants.filter(({ experimentId }) => !live.has(String(experimentId))).map(({ id }) => id),
  );
  return steps.flatMap((step): UndoStep[] => {
    if (step.kind !== 'remove') return [step];
    if (step.collection === 'experiments') return [{ kind: 'unstart', id: step.id }];
    return step.collection === 'experimentVariants' && ofOthers.has(step.id) ? [] : [step];
  });
}
