import type { FieldProblem } from '../../shared/collections/define.ts';
import { badRequest } from '../http/api-error.ts';

/** Throws a 400 that names every field with a problem; does nothing where there is none. */
export function refuseProblems(problems: readonly FieldProblem[]): void {
  const sentences = problems.map(({ field, problem }) => `${field} ${problem}`);
  if (sentences[0] !== undefined) throw badRequest(sentences[0], sentences.slice(1).join('; ') || undefined);
}
