import { testSources } from '../test-sources.ts';
import type { Tree } from './json-tree.ts';
import { mutate } from './mutate.ts';
import type { Random } from './random.ts';
import type { Verdict } from './verdicts.ts';

/** A request, and what the documentation says becomes of it. */
export type DoorCase = {
  readonly family: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Of each message, in order. */
  readonly verdicts: readonly Verdict[];
  /** What the whole request is answered, by how many of its messages are stored. */
  readonly statuses: (stored: number, messages: number) => readonly number[];
  /** Texts that are in what is stored, digit by digit. */
  readonly contains: readonly string[];
};

export type DoorFamily = (random: Random) => DoorCase;

export const json = { 'content-type': 'application/json' };
export const token = testSources.server.token;
export const basic = { authorization: `Basic ${btoa(`${token}:`)}` };
/** Up to three changes. `mayBeBare`: also to Python's NaN. */
export const mutated = (random: Random, tree: Tree, mayBeBare: boolean): Tree => {
  let changed = tree;
  for (let times = random.below(4); times > 0; times -= 1) changed = mutate(random, changed, mayBeBare);
  return changed;
};

/** A body that is cut is no JSON, whatever was in it. */
export function perhapsCut(random: Random, found: DoorCase, bytes: Buffer, refusals: readonly number[]): DoorCase {
  if (!random.chance(0.03)) return { ...found, body: bytes };
  const { verdicts } = found;
  return {
    ...found,
    body: bytes.subarray(0, 1 + random.below(bytes.length - 1)),
    verdicts: verdicts.map(() => 'refused'),
    statuses: () => refusals,
    contains: [],
  };
}
