import { parseAst } from 'rolldown/parseAst';

/** A place in a test where a clock decides the result. */
export type ClockVerdict = {
  readonly line: number;
  readonly what: 'a duration is asserted' | 'a time is read at import';
};

type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown };

/** Matchers that may fail on a slow machine. A lower bound on a duration cannot. */
const upperBounds: ReadonlySet<string> = new Set([
  'toBe',
  'toBeCloseTo',
  'toBeLessThan',
  'toBeLessThanOrEqual',
  'toEqual',
  'toStrictEqual',
]);

const functions: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'FunctionDeclaration',
  'FunctionExpression',
  'PropertyDefinition',
]);

/**
 * Finds assertions about how long something took: a matcher that sets an upper bound, on a difference that contains a
 * clock reading, or on a variable or function that holds such a difference. Also finds clocks that are read at import,
 * because a comparison with that time depends on the duration of earlier tests. Files with a fake clock are skipped.
 */
export function findClockVerdicts(source: string): readonly ClockVerdict[] {
  if (!/\bDate\b|performance\.now/.test(source)) return [];
  const program = parseAst(source, { lang: 'ts' }) as unknown as Node;
  const verdicts: ClockVerdict[] = [];
  const note = (node: Node, what: ClockVerdict['what']): void => {
    verdicts.push({ line: source.slice(0, node.start).split('\n').length, what });
  };
  const names = namesOf(program);
  const isFake = source.includes('useFakeTimers');
  visit(program, (node, isInFunction) => {
    if (!isInFunction && isClock(node)) note(node, 'a time is read at import');
    if (!isFake && isUpperBound(node) && someIn(node, (inner) => isDuration(inner, names)))
      note(node, 'a duration is asserted');
  });
  return verdicts;
}

/** Names of variables that hold readings of a clock, and of variables and functions that hold durations. */
type Names = { readonly readings: ReadonlySet<string>; readonly durations: ReadonlySet<string> };

function namesOf(program: Node): Names {
  const readings = new Set<string>();
  const durations = new Set<string>();
  const names = { readings, durations };
  visit(program, (node) => {
    const [name, value] = declaredBy(node);
    if (name === undefined || value === undefined) return;
    if (results(value).some((result) => someIn(result, (inner) => isDuration(inner, names)))) durations.add(name);
    else if (isClock(value)) readings.add(name);
  });
  return names;
}

function declaredBy(node: Node): readonly [string | undefined, Node | undefined] {
  if (node.type === 'VariableDeclarator') return [nameOf(node['id']), asNode(node['init'])];
  if (node.type === 'FunctionDeclaration') return [nameOf(node['id']), node];
  if (node.type === 'AssignmentExpression') return [nameOf(node['left']), asNode(node['right'])];
  return [undefined, undefined];
}

/** The expressions that a function returns; for any other node, the node itself. */
function results(value: Node): readonly Node[] {
  if (!functions.has(value.type)) return [value];
  const body = asNode(value['body']);
  if (body === undefined) return [];
  if (body.type !== 'BlockStatement') return [body];
  const returned: Node[] = [];
  visit(body, (node) => {
    const argument = node.type === 'ReturnStatement' ? asNode(node['argument']) : undefined;
    if (argument !== undefined) returned.push(argument);
  });
  return returned;
}

/** Names of variables that hold a point in time: `startedMs`, `atMs`, `sentAtMs`. */
const momentNames = /(?:^at|At|began|start|started|from|since|before|^end|ended)Ms$/;

function isDuration(node: Node, { readings, durations }: Names): boolean {
  if (node.type === 'Identifier') return durations.has(nameOf(node) ?? '');
  if (node.type !== 'BinaryExpression' || node['operator'] !== '-') return false;
  const sides = [asNode(node['left']), asNode(node['right'])];
  const isRead = (side: Node | undefined): boolean =>
    side !== undefined && (isClock(side) || readings.has(nameOf(side) ?? ''));
  const isMoment = (side: Node | undefined): boolean =>
    isRead(side) || momentNames.test(nameOf(side) ?? nameOf(side?.['property']) ?? '');
  return sides.some(isRead) && sides.every(isMoment);
}

/** Whether a node reads a clock: `Date.now()`, `performance.now()` or `new Date()`. */
function isClock(node: Node): boolean {
  if (node.type === 'NewExpression')
    return nameOf(node['callee']) === 'Date' && (node['arguments'] as readonly unknown[]).length === 0;
  const callee = asNode(node['callee']);
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return false;
  return ['Date', 'performance'].includes(nameOf(callee['object']) ?? '') && nameOf(callee['property']) === 'now';
}

/** Whether a call is a matcher of `expect` that sets an upper bound. */
function isUpperBound(node: Node): boolean {
  const callee = asNode(node['callee']);
  if (node.type !== 'CallExpression' || callee?.type !== 'MemberExpression') return false;
  if (!upperBounds.has(nameOf(callee['property']) ?? '')) return false;
  return someIn(callee, (inner) => inner.type === 'CallExpression' && nameOf(inner['callee']) === 'expect');
}

const nameOf = (value: unknown): string | undefined => {
  const node = asNode(value);
  return node?.type === 'Identifier' ? (node['name'] as string) : undefined;
};

const asNode = (value: unknown): Node | undefined =>
  typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;

function visit(node: Node, onNode: (node: Node, isInFunction: boolean) => void, isInFunction = false): void {
  onNode(node, isInFunction);
  const isWithin = isInFunction || functions.has(node.type);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const inner = asNode(child);
      if (inner !== undefined) visit(inner, onNode, isWithin);
    }
  }
}

function someIn(node: Node, is: (node: Node) => boolean): boolean {
  let found = false;
  visit(node, (inner) => {
    found ||= is(inner);
  });
  return found;
}
