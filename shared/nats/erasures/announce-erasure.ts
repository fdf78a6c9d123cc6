import { createHash, randomUUID } from 'node:crypto';
import { encodeErasureNotice, hashedVisitor, visitorsPerNotice } from '../../contracts/erasure-notice.ts';
import type { ErasureNotice } from '../../contracts/erasure-notice.ts';
import { erasuresSubject } from '../../contracts/subjects.ts';
import type { LogConnection } from '../connection/connection.ts';
import { publishWithRetry } from '../publish/publisher.ts';
import { readErasuresState } from '../streams/topology.ts';

export type AnnouncedErasure = {
  /** Id of the erasure: a later announcement with the same id replaces the earlier one. */
  readonly id: string;
  readonly accountId: string;
  readonly visitorIds: readonly string[];
  /** Ms since the epoch. */
  readonly atMs: number;
  /** The erasure is not done yet; it is announced again with its final time. */
  readonly isAhead: boolean;
};

const attemptsMax = 3;
const timeoutMs = 2_000;

/** The notices of an erasure, and the id of the key of their hashes. */
export type ErasureNotices = { readonly keyId: string; readonly notices: readonly ErasureNotice[] };

export async function noticesOfErasure(
  connection: LogConnection,
  { id, accountId, visitorIds, atMs, isAhead }: AnnouncedErasure,
): Promise<ErasureNotices> {
  const { key } = await readErasuresState(connection);
  const hashes = visitorIds.map((visitorId) => hashedVisitor(key, accountId, visitorId));
  const notices = Array.from({ length: Math.ceil(hashes.length / visitorsPerNotice) }, (_, part): ErasureNotice => {
    const visitors = hashes.slice(part * visitorsPerNotice, (part + 1) * visitorsPerNotice);
    return { v: 1, id, atMs, ...(isAhead ? { isAhead } : {}), visitors };
  });
  return { keyId: keyIdOf(key), notices };
}

/** Announces an erasure in the log: every sender applies it within a second. Throws if the log refuses it. */
export async function announceNotices(
  connection: LogConnection,
  accountId: string,
  notices: readonly ErasureNotice[],
): Promise<void> {
  for (const notice of notices) {
    const message = {
      subject: erasuresSubject(accountId),
      payload: encodeErasureNotice(notice),
      msgId: randomUUID(),
    };
    await publishWithRetry(connection, message, { attemptsMax, timeoutMs });
  }
}

/** Distinguishes a stream's key from the key of a stream that was created again, without showing it. */
export const keyIdOf = (key: Buffer): string => createHash('sha256').update(key).digest('base64url');
