import { isJsonObject } from '../../runtime/json.ts';
import { listOperand, numberOperand, scalarOperand, textOperand } from '../../routing/predicate/operands.ts';
import type { Scalar } from '../../routing/predicate/operands.ts';
import { checkLogic } from '../../routing/predicate/predicate.ts';
import { PlanError } from '../../routing/values/plan-error.ts';
import type { PageLogic, PageTest } from './page-logic.ts';
import { pageOperators } from './tag-words.ts';

type CompileTest = (path: string, value: unknown, field: string) => PageTest;

const asked = (operator: 'falsy' | 'null' | 'there' | 'true' | 'false'): CompileTest => {
  return (path) => [operator, path];
};
const compared = (operator: '>' | '>=' | '<' | '<='): CompileTest => {
  return (path, value, field) => [operator, path, numberOperand(value, field)];
};
const texts = (operator: 'has' | 'begins' | 'ends'): CompileTest => {
  return (path, value, field) => {
    textOperand(value, field);
    // The operand keeps its type, which decides how it is compared with the items of a list.
    return [operator, path, scalarOperand(value, field) as Exclude<Scalar, null>];
  };
};
const is: CompileTest = (path, value, field) => ['is', path, [scalarOperand(value, field)]];
const isIn: CompileTest = (path, value, field) => ['in', path, listOperand(value, field)];

/**
 * The operators that pages know. `isNegated`: holds for a value that exists and does not match the test. `not`: holds
 * whenever the test does not, also for a missing value.
 */
const operators: Readonly<
  Record<(typeof pageOperators)[number], { readonly test: CompileTest; readonly isNegated?: true; readonly not?: true }>
> = {
  Is: { test: is },
  IsNot: { test: is, isNegated: true },
  IsIn: { test: isIn },
  IsNotIn: { test: isIn, isNegated: true },
  Contains: { test: texts('has') },
  DoesNotContain: { test: texts('has'), isNegated: true },
  StartsWith: { test: texts('begins') },
  EndsWith: { test: texts('ends') },
  IsFalsy: { test: asked('falsy') },
  IsTruthy: { test: asked('falsy'), not: true },
  IsNull: { test: asked('null') },
  IsNotNull: { test: asked('null'), isNegated: true },
  IsUndefined: { test: asked('there'), not: true },
  IsNotUndefined: { test: asked('there') },
  IsTrue: { test: asked('true') },
  IsFalse: { test: asked('false') },
  IsGreaterThan: { test: compared('>') },
  IsGreaterThanOrEqual: { test: compared('>=') },
  IsLessThan: { test: compared('<') },
  IsLessThanOrEqual: { test: compared('<=') },
};

const pathForm = /^(event\.event|event\.event_properties\..+|variables\..+)$/;

/**
 * Compiles a trigger's logic for pages. Paths are `variables.<name>`, and `event.event` and `event.event_properties.x`
 * of an event that the page tracks or pushes to its data layer. Throws PlanError.
 */
export function compilePageLogic(logic: unknown, field = 'logic'): PageLogic {
  const [problem] = checkLogic(logic, field);
  if (problem !== undefined) throw new PlanError(problem.field, problem.problem);
  return compileNode(logic, field);
}

function compileNode(node: unknown, field: string): PageLogic {
  if (!isJsonObject(node)) throw new PlanError(field, 'must be an object with one of condition, AND, OR and NOT');
  const [kind, content] = Object.entries(node).find(([, one]) => one !== null && one !== undefined) ?? ['', undefined];
  const at = `${field}.${kind}`;
  switch (kind) {
    case 'AND':
    case 'OR': {
      const parts = (content as readonly unknown[]).map((part, index) => compileNode(part, `${at}[${index}]`));
      return [kind === 'AND' ? 'and' : 'or', parts];
    }
    case 'NOT':
      return ['not', compileNode(content, at)];
    default:
      return compileCondition(content as Readonly<Record<string, unknown>>, at);
  }
}

function compileCondition({ property, operator, value }: Readonly<Record<string, unknown>>, field: string): PageLogic {
  const path = String(property).trim().replace(/^\$/, '');
  if (!pathForm.test(path)) {
    throw new PlanError(
      `${field}.property`,
      'must be variables.<name of a variable>, event.event or event.event_properties.<name>: a page knows nothing else',
    );
  }
  const name = pageOperators.find((one) => one === operator);
  const known = name === undefined ? undefined : operators[name];
  if (known === undefined) {
    throw new PlanError(`${field}.operator`, `must be one of those that pages know: ${pageOperators.join(', ')}`);
  }
  const test = known.test(path, value, `${field}.value`);
  if (known.not === true) return ['not', test];
  return known.isNegated === true ? ['but', test] : test;
}
