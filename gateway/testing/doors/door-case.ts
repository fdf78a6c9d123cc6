import { testSources } from '../test-sources.ts';
import type { Tree } from './json-tree.ts';
import { mutate } from './mutate.ts';
import type { Random } from './random.ts';
import type { Verdict } from './verdicts.ts';

/** A request, and its result according to the documentation. */
export type DoorCase = {
  readonly family: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The expected verdict on each message, in order. */
  readonly verdicts: readonly Verdict[];
  /** Possible statuses of the whole request, given how many of its messages are stored. */
  readonly statuses: (stored: number, messages: number) => readonly number[];
  /** Texts that the stored events must contain, digit by digit. */
  readonly contains: readonly string[];
};

export type DoorFamily = (random: Random) => DoorCase;

export const json = { 'content-type': 'application/json' };
export const token = testSources.server.token;
export const basic = { authorization: `Basic ${btoa(`${token}:`)}` };
/** Makes up to three changes. `mayBeBare`: a change may insert Python's `NaN` or `Infinity`. */
export const mutated = (random: Random, tree: Tree, mayBeBare: boolean): Tree => {
  let changed = tree;
  for (let times = random.below(4); times > 0; times -= 1) changed = mutate(random, changed, mayBeBare);
  return changed;
};

/** Sometimes cuts the body short, so that it is not JSON. */
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
