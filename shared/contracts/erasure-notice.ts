import { createHmac } from 'node:crypto';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';

const erasureNotice = Type.Object({
  v: Type.Literal(1),
  /** Of the erasure: a later notice of the same one takes the place of an earlier one. */
  id: Type.String(),
  /** Events of these visitors received until then are not sent, in ms since the epoch. */
  atMs: Type.Integer({ minimum: 0 }),
  /** The erasure is not done yet, and `atMs` is a time ahead: the notice of its own time follows. */
  isAhead: Type.Optional(Type.Boolean()),
  /** `hashedVisitor` of each. */
  visitors: Type.Array(Type.String()),
});

/** Tells all who send events of an erasure: a message of `erasures.<account>`. */
export type ErasureNotice = Static<typeof erasureNotice>;

const isNotice = Compile(erasureNotice);

/** So many visitors one notice names at most; those of a large cluster are several. */
export const visitorsPerNotice = 10_000;

export function encodeErasureNotice(notice: ErasureNotice): Uint8Array {
  return encodeJson(notice);
}

/** Reads a notice; undefined when the message is none this build knows. */
export function decodeErasureNotice(data: Uint8Array): ErasureNotice | undefined {
  const notice = decodeJson(data);
  return isNotice.Check(notice) ? notice : undefined;
}

const hashBytes = 16;

/** What stands for a visitor in a notice: the first half of an HMAC-SHA256 with the key of the log. */
export function hashedVisitor(key: Buffer, accountId: string, visitorId: string): string {
  const digest = createHmac('sha256', key).update(`${accountId}\n${visitorId}`).digest();
  return digest.toString('base64url', 0, hashBytes);
}
