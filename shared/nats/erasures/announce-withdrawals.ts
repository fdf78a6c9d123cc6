import { randomUUID } from 'node:crypto';
import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import { withdrawalsSubject } from '../../contracts/subjects.ts';
import { encodeWithdrawalNotice } from '../../contracts/withdrawal-notice.ts';
import type { LogConnection } from '../connection/connection.ts';
import { publishWithRetry } from '../publish/publisher.ts';
import { readWithdrawalsState } from '../streams/topology.ts';

/** A visitor's change of consent: `words` by lower-case name, true for a grant. */
export type ConsentChange = {
  readonly accountId: string;
  /** Every id of the visitor. */
  readonly visitorIds: readonly string[];
  readonly words: Readonly<Record<string, boolean>>;
  /** Ms since the epoch. */
  readonly atMs: number;
};

const attemptsMax = 3;
const timeoutMs = 2_000;
/** Maximum number of changes in one message. */
const changesMax = 500;

/**
 * Announces withdrawn consents in the log: every sender applies them within a second. Throws if the log refuses them.
 */
export async function announceWithdrawals(connection: LogConnection, changes: readonly ConsentChange[]): Promise<void> {
  const { key } = await readWithdrawalsState(connection);
  const byAccount = new Map<string, ConsentChange[]>();
  for (const change of changes) {
    const own = byAccount.get(change.accountId);
    if (own === undefined) byAccount.set(change.accountId, [change]);
    else own.push(change);
  }
  for (const [accountId, own] of byAccount) {
    for (let from = 0; from < own.length; from += changesMax) {
      const some = own.slice(from, from + changesMax).map(({ visitorIds, words, atMs }) => ({
        visitors: visitorIds.map((id) => hashedVisitor(key, accountId, id)),
        words,
        atMs,
      }));
      const payload = encodeWithdrawalNotice({ v: 1, changes: some });
      const message = { subject: withdrawalsSubject(accountId), payload, msgId: randomUUID() };
      await publishWithRetry(connection, message, { attemptsMax, timeoutMs });
    }
  }
}
