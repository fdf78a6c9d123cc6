import { isJsonObject } from '../../runtime/json.ts';
import { logicDepthMax, logicExpressionsMax, logicNodesMax } from './logic-schema.ts';
import { isOperatorName, operators } from './operators.ts';
import { PlanError, problemsOf } from '../values/plan-error.ts';
import type { RuleProblem } from '../values/plan-error.ts';
import { compilePropertyPath } from '../values/property-path.ts';
import type { Subject } from '../values/property-path.ts';

/** Whether a logic holds for an event and its visitor. Throws only OverBudgetError, for a subject with a budget. */
export type Predicate = (subject: Subject) => boolean;

/**
 * Compiles a logic: `{condition: {property, operator, value}}`, `{AND: […]}`, `{OR: […]}` or `{NOT: …}`, nested up to
 * 16 levels deep, with at most 1,000 conditions and joins and at most 100 regular expressions. The cost of evaluating
 * it is charged to the subject's work. NOT inverts its logic, also for a missing property: NOT of `visitor.plan Is pro`
 * holds for a visitor without a plan, but `IsNot pro` does not. Throws PlanError naming the field inside the logic.
 */
export function compilePredicate(logic: unknown, field = 'logic', expressions = expressionsLeft()): Predicate {
  return compileNode(logic, field, { depth: 1, nodes: { left: logicNodesMax }, expressions });
}

/** A list of the first problem of a logic, for a check before the logic is stored; empty if there is no problem. */
export function checkLogic(logic: unknown, field = 'logic', expressions = expressionsLeft()): readonly RuleProblem[] {
  return problemsOf(() => compilePredicate(logic, field, expressions));
}

/** The number of regular expressions that one logic, or several together, may still have. */
export function expressionsLeft(): { left: number } {
  return { left: logicExpressionsMax };
}

type Budget = {
  readonly depth: number;
  readonly nodes: { left: number };
  readonly expressions: { left: number };
};

function compileNode(node: unknown, field: string, budget: Budget): Predicate {
  if (budget.depth > logicDepthMax) throw new PlanError(field, `is nested deeper than ${logicDepthMax}`);
  budget.nodes.left -= 1;
  if (budget.nodes.left < 0) throw new PlanError(field, `is one too many: logic has at most ${logicNodesMax} parts`);
  const [kind, content] = onlyMember(node, field);
  const inner = { ...budget, depth: budget.depth + 1 };
  const at = `${field}.${kind}`;
  switch (kind) {
    case 'condition':
      return compileCondition(content, at, budget);
    case 'AND': {
      const parts = compileParts(content, at, inner);
      return (subject) => parts.every((holds) => holds(subject));
    }
    case 'OR': {
      const parts = compileParts(content, at, inner);
      return (subject) => parts.some((holds) => holds(subject));
    }
    case 'NOT': {
      const holds = compileNode(content, at, inner);
      return (subject) => !holds(subject);
    }
    default:
      throw new PlanError(field, oneOfFour);
  }
}

const oneOfFour = 'must have exactly one of condition, AND, OR and NOT';

/** The node's kind and content; members that are null count as absent, because some clients send them. */
function onlyMember(node: unknown, field: string): readonly [kind: string, content: unknown] {
  if (!isJsonObject(node)) throw new PlanError(field, `must be an object with one of condition, AND, OR and NOT`);
  const [member, ...others] = Object.entries(node).filter(([, content]) => content !== null && content !== undefined);
  if (member === undefined || others.length > 0) throw new PlanError(field, oneOfFour);
  return member;
}

function compileParts(content: unknown, field: string, budget: Budget): readonly Predicate[] {
  if (!Array.isArray(content) || content.length === 0) throw new PlanError(field, 'must be a list, not empty');
  return content.map((part, index) => compileNode(part, `${field}[${index}]`, budget));
}

function compileCondition(condition: unknown, field: string, { expressions }: Budget): Predicate {
  if (!isJsonObject(condition)) throw new PlanError(field, 'must be an object with property, operator and value');
  const { property, operator, value } = condition;
  if (typeof property !== 'string') throw new PlanError(`${field}.property`, 'must be a path, such as event.event');
  if (!isOperatorName(operator)) throw new PlanError(`${field}.operator`, 'must be the name of an operator');
  const read = compilePropertyPath(property, `${field}.property`);
  if (operators[operator].takes === 'expression') expressions.left -= 1;
  if (expressions.left < 0) {
    throw new PlanError(
      `${field}.operator`,
      `is one regular expression too many: at most ${logicExpressionsMax} are allowed`,
    );
  }
  const test = operators[operator].compile(value, `${field}.value`);
  const unitsOf = operators[operator].unitsOf(value);
  return (subject) => {
    const actual = read(subject);
    subject.work?.spend(unitsOfValue(actual, unitsOf));
    return test(actual);
  };
}

/** Each item of a list is compared. */
function unitsOfValue(actual: unknown, unitsOf: (characters: number) => number): number {
  if (typeof actual === 'string') return unitsOf(actual.length);
  if (!Array.isArray(actual)) return unitsOf(0);
  return actual.reduce<number>((sum, item) => sum + unitsOf(typeof item === 'string' ? item.length : 0), unitsOf(0));
}
