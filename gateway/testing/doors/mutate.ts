import { Members, Raw, badByte, isList } from './json-tree.ts';
import type { Tree } from './json-tree.ts';
import type { Random } from './random.ts';

const nested = (levels: number): Tree => {
  let tree: Tree = new Raw('1');
  for (let level = 0; level < levels; level += 1) tree = level % 2 === 0 ? new Members([['a', tree]]) : [tree];
  return tree;
};

const texts = [
  '',
  ' ',
  'undefined',
  '[object Object]',
  '\u0000',
  'a\u0000b',
  '\uD800',
  `M${badByte}nchen`,
  'é😀\u202Eabc',
  '<script>alert(1)</script>',
  "'; drop table visitors; --",
  '{{event.event}}',
  '2026-11-26 19:50:05.123456',
  'Invalid Date',
  '-9999999999999',
  'x'.repeat(400),
  'x'.repeat(401),
  'x'.repeat(1_001),
  'y'.repeat(10_000),
];
const numbers = ['0', '-0', '1e400', '-1E-400', '1E+21', '9.990', '9007199254740993', '1780000000000', '-1', '0.1e1'];
const names = [
  '__proto__',
  'constructor',
  'prototype',
  '',
  '$set',
  'a.b',
  'token',
  'toString',
  'batch',
  'é',
  'type',
  'x'.repeat(300),
];

function hostileValue(random: Random, mayBeBare: boolean): Tree {
  switch (random.below(mayBeBare ? 10 : 9)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return random.pick(texts);
    case 4:
      return new Raw(random.pick(numbers));
    case 5:
      return new Raw(random.digits(17 + random.below(20)));
    case 6:
      return random.pick<Tree>([[], new Members([]), [null], [[]], new Members([['', null]])]);
    case 7:
      return nested(random.pick([3, 20, 50, 80, 400]));
    case 8:
      return new Members(
        Array.from({ length: random.pick([2, 30, 300]) }, (_, n) => [`k${n}`, new Raw(String(n))] as const),
      );
    default:
      return new Raw(random.pick(['NaN', 'Infinity', '-Infinity']));
  }
}

/** The same JSON with one change, at any depth: to a value, a name or a member. */
export function mutate(random: Random, tree: Tree, mayBeBare: boolean): Tree {
  if (tree instanceof Members && tree.list.length > 0 && random.chance(0.9))
    return mutateMembers(random, tree, mayBeBare);
  if (isList(tree) && tree.length > 0 && random.chance(0.9)) {
    const at = random.below(tree.length);
    return tree.flatMap((one, index) => {
      if (index !== at) return [one];
      return random.chance(0.2) ? [one, one] : [mutate(random, one, mayBeBare)];
    });
  }
  return random.chance(0.1) ? [tree] : hostileValue(random, mayBeBare);
}

function mutateMembers(random: Random, tree: Members, mayBeBare: boolean): Members {
  const at = random.below(tree.list.length);
  const [name, value] = tree.list[at] ?? ['', null];
  const change = (): readonly (readonly [string, Tree])[] => {
    switch (random.below(12)) {
      case 0:
        return [];
      case 1:
        // Duplicates the member: the last one counts.
        return [
          [name, hostileValue(random, mayBeBare)],
          [name, value],
        ];
      case 2:
        return [[random.pick(names), value]];
      case 3:
        return [
          [name, value],
          [random.pick(names), hostileValue(random, mayBeBare)],
        ];
      case 4:
      case 5:
      case 6:
        return [[name, hostileValue(random, mayBeBare)]];
      case 7: {
        const [, other] = random.pick(tree.list);
        return [[name, other]];
      }
      default:
        return [[name, mutate(random, value, mayBeBare)]];
    }
  };
  return new Members(tree.list.flatMap((member, index) => (index === at ? change() : [member])));
}
