import type { EntityManager } from '@mikro-orm/postgresql';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { findEntity, fromSnapshotEntity, insertEntity, loadDraft, replaceBody } from '../draft/entity-store.ts';
import { diffSnapshots } from './diff.ts';
import { changedEntities, keepExperimentDrafts, planRevert } from './revert.ts';
import type { EntityRef, RevertPlan, UndoStep } from './revert.ts';
import { withoutDraftExperiments } from '../draft/snapshot.ts';
import { liveContent } from './version-store.ts';

export type UndoResult = Omit<RevertPlan, 'steps'> & { readonly remainingChanges: number };

/** Undoes the draft changes of the entities named, or all of them. */
export async function undoChanges(editing: Editing, refs: readonly EntityRef[] | 'all'): Promise<UndoResult> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const published = await liveContent(em, accountId);
  const draft = withoutDraftExperiments(await loadDraft(em, accountId));
  const { steps, ...counts } = planRevert(published, draft, refs === 'all' ? changedEntities(published, draft) : refs);
  for (const step of refs === 'all' ? keepExperimentDrafts(steps, draft) : steps) await apply(em, accountId, step, now);
  await em.flush();
  const after = withoutDraftExperiments(await loadDraft(em, accountId));
  const action = refs === 'all' ? 'draft.abandon' : 'draft.revert';
  if (steps.length > 0) recordAudit(em, principal, { action, details: counts }, now);
  return { ...counts, remainingChanges: diffSnapshots(published, after).count };
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

const unstarted = { status: 'Draft', rolloutVariantId: null };
