import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { badRequest } from '../api/api-error.ts';

/** Throws a 400 that names every field with a problem; does nothing where there is none. */
export function refuseProblems(problems: readonly FieldProblem[]): void {
  const sentences = problems.map(({ field, problem }) => `${field} ${problem}`);
  if (sentences[0] !== undefined) throw badRequest(sentences[0], sentences.slice(1).join('; ') || undefined);
}

/** An entity that is about to be added (no body before), changed, or taken out (none after). */
export type EntityEdit = {
  readonly id: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
};
