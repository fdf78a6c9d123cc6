import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';

const withdrawalNotice = Type.Object({
  v: Type.Literal(1),
  changes: Type.Array(
    Type.Object({
      /** `hashedVisitor` of each id of one visitor. */
      visitors: Type.Array(Type.String()),
      /** Lower-case names of purposes or categories: true grants, false denies. */
      words: Type.Record(Type.String(), Type.Boolean()),
      /** When that was said, in ms since the epoch. */
      atMs: Type.Number(),
    }),
  ),
});

/**
 * Tells all who send events that visitors withdrew consent, or gave back what they had withdrawn: a message of
 * `withdrawals.<account>`.
 */
export type WithdrawalNotice = Static<typeof withdrawalNotice>;

const isNotice = Compile(withdrawalNotice);

export function encodeWithdrawalNotice(notice: WithdrawalNotice): Uint8Array {
  return encodeJson(notice);
}

/** Reads a notice; undefined when the message is none this build knows. */
export function decodeWithdrawalNotice(data: Uint8Array): WithdrawalNotice | undefined {
  const notice = decodeJson(data);
  return isNotice.Check(notice) ? notice : undefined;
}
