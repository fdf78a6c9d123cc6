import { randomUUID } from 'node:crypto';
import { encodeErasureNotice, hashedVisitor, visitorsPerNotice } from '../../contracts/erasure-notice.ts';
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

/** Announces an erasure in the log: every sender applies it within a second. Throws if the log refuses it. */
export async function announceErasure(
  connection: LogConnection,
  { id, accountId, visitorIds, atMs, isAhead }: AnnouncedErasure,
): Promise<void> {
  const { key } = await readErasuresState(connection);
  const hashes = visitorIds.map((visitorId) => hashedVisitor(key, accountId, visitorId));
  for (let from = 0; from < hashes.length; from += visitorsPerNotice) {
    const visitors = hashes.slice(from, from + visitorsPerNotice);
    const payload = encodeErasureNotice({ v: 1, id, atMs, ...(isAhead ? { isAhead } : {}), visitors });
    const message = { subject: erasuresSubject(accountId), payload, msgId: randomUUID() };
    await publishWithRetry(connection, message, { attemptsMax, timeoutMs });
  }
}
