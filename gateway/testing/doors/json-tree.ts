/*
 * JSON as its sender wrote it: with its number formats, duplicate keys, and literals that JSON does not have. Stored
 * events are compared with this tree, not with the output of a parser.
 */

/** Text that is written unchanged: a number, or text that only looks like a number. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object with its members in the order of writing, including duplicates. */
export class Members {
  readonly list: (readonly [string, Tree])[];
  constructor(list: readonly (readonly [string, Tree])[]) {
    this.list = [...list];
  }

  /** The last member of this name; undefined if there is none. */
  get(name: string): Tree | undefined {
    return this.list.findLast(([each]) => each === name)?.[1];
  }

  with(name: string, value: Tree): Members {
    return new Members([...this.list.filter(([each]) => each !== name), [name, value]]);
  }
}

export type Tree = null | boolean | string | Raw | Members | readonly Tree[];

export function toTree(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(toTree);
  if (typeof value === 'object' && value !== null)
    return new Members(Object.entries(value).map(([name, one]) => [name, toTree(one)] as const));
  if (typeof value === 'number') return new Raw(String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** Placeholder in a text, written as a byte that is not UTF-8. */
export const badByte = '\uE000';
const badByteUtf8 = Buffer.from(badByte);

export function writeTree(tree: Tree): Buffer {
  const bytes = Buffer.from(textOf(tree));
  for (let at = bytes.indexOf(badByteUtf8); at >= 0; at = bytes.indexOf(badByteUtf8, at)) {
    bytes.set([0x20, 0xfc, 0x20], at);
  }
  return bytes;
}

function textOf(tree: Tree): string {
  if (tree instanceof Raw) return tree.text;
  if (tree instanceof Members)
    return `{${tree.list.map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`).join(',')}}`;
  if (isList(tree)) return `[${tree.map(textOf).join(',')}]`;
  return JSON.stringify(tree);
}

export const isList = (tree: Tree | undefined): tree is readonly Tree[] => Array.isArray(tree);

/** Facts that decide whether a value can be read at all. */
export type TreeFacts = {
  readonly depth: number;
  readonly keys: number;
  readonly texts: readonly string[];
  readonly isJson: boolean;
};

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export function factsOf(tree: Tree): TreeFacts {
  let keys = 0;
  let isJson = true;
  const texts: string[] = [];
  const depthOf = (one: Tree): number => {
    if (one instanceof Raw) {
      isJson &&= number.test(one.text);
      return 0;
    }
    if (one instanceof Members) {
      keys += one.list.length;
      texts.push(...one.list.map(([name]) => name));
      return 1 + Math.max(0, ...one.list.map(([, value]) => depthOf(value)));
    }
    if (isList(one)) return 1 + Math.max(0, ...one.map(depthOf));
    if (typeof one === 'string') texts.push(one);
    return 0;
  };
  const depth = depthOf(tree);
  return { depth, keys, texts, isJson };
}
