import { parseAst } from 'rolldown/parseAst';

/** A part of a file that exceeds a size limit and has no comment with a reason. */
export type LargePart = { readonly line: number; readonly what: string };

export const limits = { fileLines: 500, classFields: 12, functionLines: 60, markupLines: 100 } as const;

/** The comment that names a reason: above a class or a function, or at the top of a file. */
const reason = /\bLarge: \S/;

type Node = { readonly type: string; readonly start: number; readonly end: number; readonly [key: string]: unknown };

const functions: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'FunctionDeclaration',
  'FunctionExpression',
]);

/**
 * Finds files, classes and functions that are too large, unless they have a comment `Large: <reason>`. The lines of an
 * inner function do not count for the outer one, so a function that returns an object of closures is measured like a
 * class. A component's markup may be longer.
 */
export function findLargeParts(path: string, source: string): readonly LargePart[] {
  const lines = source.split('\n');
  const found: LargePart[] = [];
  const count = lines.length - 1;
  if (count > limits.fileLines && !reason.test(lines.slice(0, 3).join('\n'))) {
    found.push({ line: 1, what: `a file of ${count} lines` });
  }
  const isMarkup = path.endsWith('.tsx');
  const lineAt = (offset: number): number => source.slice(0, offset).split('\n').length;
  const note = (node: Node, what: string): void => {
    const line = lineAt(node.start);
    if (!reason.test(commentAbove(lines, line))) found.push({ line, what });
  };
  const most = isMarkup ? limits.markupLines : limits.functionLines;
  const measure = (node: Node): void => {
    const own = linesOf(node, source) > most ? ownLines(node, source) : 0;
    if (own > most) note(node, `a function of ${own} lines`);
  };
  visit(parseAst(source, { lang: isMarkup ? 'tsx' : 'ts' }) as unknown as Node, (node) => {
    if (functions.has(node.type)) measure(node);
    const fields = node.type === 'ClassBody' ? fieldsOf(node) : 0;
    if (fields > limits.classFields) note(node, `a class of ${fields} fields`);
  });
  return found;
}

/** The comment lines directly above a line, and the line itself. */
function commentAbove(lines: readonly string[], line: number): string {
  let first = line - 1;
  while (first > 0 && /^\s*(?:\/\/|\/\*|\*)/.test(lines[first - 1] ?? '')) first -= 1;
  return lines.slice(first, line).join('\n');
}

const linesOf = ({ start, end }: Node, source: string): number => source.slice(start, end).split('\n').length;

function ownLines(node: Node, source: string): number {
  let own = linesOf(node, source);
  const leave = (child: Node): void => {
    if (functions.has(child.type)) own -= linesOf(child, source) - 1;
    else for (const next of childrenOf(child)) leave(next);
  };
  for (const child of childrenOf(node)) leave(child);
  return own;
}

function fieldsOf(body: Node): number {
  const members = body['body'] as readonly Node[];
  return members.filter((member) => {
    const value = member['value'] as Node | null | undefined;
    return member.type === 'PropertyDefinition' && member['static'] !== true && !functions.has(value?.type ?? '');
  }).length;
}

function visit(node: Node, look: (node: Node) => void): void {
  look(node);
  for (const child of childrenOf(node)) visit(child, look);
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (const name in node) {
    const value = node[name];
    if (Array.isArray(value)) children.push(...value.filter(isNode));
    else if (isNode(value)) children.push(value);
  }
  return children;
}
