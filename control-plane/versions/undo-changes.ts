import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { findEntity, fromSnapshotEntity, insertEntity, loadDraft, replaceBody } from '../draft/entity-store.ts';
import { diffSnapshots } from './diff.ts';
import { changedEntities, planRevert } from './revert.ts';
import type { EntityRef, RevertPlan, RevertStep } from './revert.ts';
import { withoutDraftExperiments } from './snapshot.ts';
import { liveContent } from './version-store.ts';

export type UndoResult = Omit<RevertPlan, 'steps'> & { readonly remainingChanges: number };

/** Undoes the draft changes of the entities named, or all of them. */
export async function undoChanges(editing: Editing, refs: readonly EntityRef[] | 'all'): Promise<UndoResult> {
  const { em, actor, now } = editing;
  const { accountId } = actor;
  const published = await liveContent(em, accountId);
  const draft = withoutDraftExperiments(await loadDraft(em, accountId));
  const { steps, ...counts } = planRevert(published, draft, refs === 'all' ? changedEntities(published, draft) : refs);
  for (const step of steps) await apply(em, accountId, step, now);
  await em.flush();
  const after = withoutDraftExperiments(await loadDraft(em, accountId));
  const action = refs === 'all' ? 'draft.abandon' : 'draft.revert';
  if (steps.length > 0) recordAudit(em, actor, { action, details: counts }, now);
  return { ...counts, remainingChanges: diffSnapshots(published, after).count };
}

async function apply(em: EntityManager, accountId: string, step: RevertStep, now: Date): Promise<void> {
  const { collection } = step;
  if (step.kind === 'remove') {
    const added = await findEntity(em, accountId, collection, step.id);
    if (added !== undefined) em.remove(added);
    return;
  }
  const { id, body, createdAt } = fromSnapshotEntity(step.entity);
  const row = await findEntity(em, accountId, collection, id);
  if (row === undefined) insertEntity(em, { accountId, collection, id, body, createdAt });
  else replaceBody(row, body, now);
}
