/** An invalid part of a rule: the field, and what is wrong with it. */
export type RuleProblem = { readonly field: string; readonly problem: string };

/** A rule that cannot be compiled. The message names the field: `logic.AND[1].condition.value must be a number`. */
export class PlanError extends Error {
  readonly code = 'plan_invalid';
  readonly field: string;
  readonly problem: string;

  constructor(field: string, problem: string, options?: ErrorOptions) {
    super(`${field} ${problem}`, options);
    this.field = field;
    this.problem = problem;
  }
}

/** A list of the first problem of a rule, for a check before the rule is stored; empty if there is no problem. */
export function problemsOf(compile: () => unknown): readonly RuleProblem[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (error instanceof PlanError) return [{ field: error.field, problem: error.problem }];
    throw error;
  }
}
