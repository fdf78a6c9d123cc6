import { createHmac } from 'node:crypto';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';

const erasureNotice = Type.Object({
  v: Type.Literal(1),
  /** Id of the erasure: a later notice with the same id replaces this one. */
  id: Type.String(),
  /** Events of these visitors that were received up to this time are not sent; in ms since the epoch. */
  atMs: Type.Integer({ minimum: 0 }),
  /** Set while the erasure is not finished, and `atMs` is in the future: a notice with the final time follows. */
  isAhead: Type.Optional(Type.Boolean()),
  /** The result of `hashedVisitor` for each visitor. */
  visitors: Type.Array(Type.String()),
});

/** Announces an erasure to all senders: a message of `erasures.<account>`. */
export type ErasureNotice = Static<typeof erasureNotice>;

const isNotice = Compile(erasureNotice);

/** Maximum number of visitors in one notice; an erasure of more visitors has several notices. */
export const visitorsPerNotice = 10_000;

export function encodeErasureNotice(notice: ErasureNotice): Uint8Array {
  return encodeJson(notice);
}

/** Reads a notice; undefined for a format that this build does not know. */
export function decodeErasureNotice(data: Uint8Array): ErasureNotice | undefined {
  const notice = decodeJson(data);
  return isNotice.Check(notice) ? notice : undefined;
}

const hashBytes = 16;

/** A visitor's id in a notice: the first half of an HMAC-SHA256 with the key of the log. */
export function hashedVisitor(key: Buffer, accountId: string, visitorId: string): string {
  const digest = createHmac('sha256', key).update(`${accountId}\n${visitorId}`).digest();
  return digest.toString('base64url', 0, hashBytes);
}
