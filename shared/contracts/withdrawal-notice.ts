import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';

const withdrawalNotice = Type.Object({
  v: Type.Literal(1),
  changes: Type.Array(
    Type.Object({
      /** The result of `hashedVisitor` for each id of one visitor. */
      visitors: Type.Array(Type.String()),
      /** Lower-case names of purposes or categories: true grants, false denies. */
      words: Type.Record(Type.String(), Type.Boolean()),
      /** Time of the decision, in ms since the epoch. */
      atMs: Type.Number(),
    }),
  ),
});

/**
 * Announces to all senders that visitors withdrew consent, or granted it again: a message of `withdrawals.<account>`.
 */
export type WithdrawalNotice = Static<typeof withdrawalNotice>;

const isNotice = Compile(withdrawalNotice);

export function encodeWithdrawalNotice(notice: WithdrawalNotice): Uint8Array {
  return encodeJson(notice);
}

/** Reads a notice; undefined for a format that this build does not know. */
export function decodeWithdrawalNotice(data: Uint8Array): WithdrawalNotice | undefined {
  const notice = decodeJson(data);
  return isNotice.Check(notice) ? notice : undefined;
}
