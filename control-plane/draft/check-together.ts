import type { EntityManager } from '@mikro-orm/postgresql';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { checkVariantChange, checkVariants } from '../../shared/experiments/validate-experiment.ts';
import { findEntity } from './entity-store.ts';
import { loadVariants, readExperimentBody, readVariantBody } from './experiment-rows.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';

type CheckEdit = (em: EntityManager, accountId: string, edit: EntityEdit) => Promise<void>;

const checks: Partial<Record<CollectionName, CheckEdit>> = { experimentVariants: checkVariantEdit };

/** Checks an edit against related entities, in collections whose entities depend on each other. Throws a 400. */
export async function checkTogether(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  edit: EntityEdit,
): Promise<void> {
  await checks[collection]?.(em, accountId, edit);
}

/**
 * Checks a variant together with its experiment and the experiment's other variants, before the variant is added,
 * changed or removed. Throws a 400 for contradictions. A variant whose experiment was deleted is not checked.
 */
async function checkVariantEdit(em: EntityManager, accountId: string, edit: EntityEdit): Promise<void> {
  const { id, before, after } = edit;
  const experimentId = String((after ?? before)?.['experimentId']);
  const row = await findEntity(em, accountId, 'experiments', experimentId);
  if (row === undefined) return;
  const experiment = readExperimentBody(row.body);
  const variant = after === undefined ? undefined : readVariantBody(after);
  const change = before === undefined ? [] : checkVariantChange(experiment, readVariantBody(before), variant);
  const others = (await loadVariants(em, accountId, experimentId)).filter((other) => other.id !== id);
  const together = variant === undefined ? [] : checkVariants(experiment, [...others, { ...variant, id }]);
  refuseProblems([...change, ...together]);
}

/** Throws a 400 that names every field with a problem; does nothing if there is no problem. */
export function refuseProblems(problems: readonly FieldProblem[]): void {
  const sentences = problems.map(({ field, problem }) => `${field} ${problem}`);
  if (sentences[0] !== undefined) throw badRequest(sentences[0], sentences.slice(1).join('; ') || undefined);
}

/** An entity to be added (`before` is undefined), changed, or removed (`after` is undefined). */
type EntityEdit = {
  readonly id: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
};
