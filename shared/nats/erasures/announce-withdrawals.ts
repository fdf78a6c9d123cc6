import { randomUUID } from 'node:crypto';
import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import { firstWithdrawalSubject, withdrawalsSubject } from '../../contracts/subjects.ts';
import { encodeWithdrawalNotice } from '../../contracts/withdrawal-notice.ts';
import type { WithdrawalNotice } from '../../contracts/withdrawal-notice.ts';
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
/**
 * Maximum bytes of the changes in one message, unless a single change is larger. Small, because the stream limits the
 * number of an account's messages, and one account must not fill it.
 */
const changesBytesMax = 208;
/** Maximum number of messages that wait for the log's answer. */
const atOnceMax = 256;

/**
 * Announces withdrawn consents in the log: every sender applies them within a second. Throws if the log refuses them.
 */
export async function announceWithdrawals(connection: LogConnection, changes: readonly ConsentChange[]): Promise<void> {
  const { key, lastSeq } = await readWithdrawalsState(connection);
  const announce = ({ subject, changes: some }: Message, msgId: string = randomUUID()): Promise<unknown> => {
    const payload = encodeWithdrawalNotice({ v: 1, changes: [...some] });
    return publishWithRetry(connection, { subject, payload, msgId }, { attemptsMax, timeoutMs });
  };
  // The first notice belongs to no account: it leaves the stream only with age, or once the stream is full.
  if (lastSeq === 0) await announce({ subject: firstWithdrawalSubject, changes: [] }, 'first');
  const isGrant = ({ words }: ConsentChange): boolean => Object.values(words).includes(true);
  // Followers ignore a grant that they read before the denial.
  for (const some of [changes.filter((one) => !isGrant(one)), changes.filter(isGrant)]) {
    const messages = messagesOf(key, some);
    for (let from = 0; from < messages.length; from += atOnceMax) {
      await Promise.all(messages.slice(from, from + atOnceMax).map((message) => announce(message)));
    }
  }
}

type Message = { readonly subject: string; readonly changes: readonly WithdrawalNotice['changes'][number][] };

function messagesOf(key: Buffer, changes: readonly ConsentChange[]): readonly Message[] {
  const messages: Message[] = [];
  const open = new Map<string, { readonly changes: WithdrawalNotice['changes']; bytes: number }>();
  for (const { accountId, visitorIds, words, atMs } of changes) {
    const change = { visitors: visitorIds.map((id) => hashedVisitor(key, accountId, id)), words, atMs };
    const bytes = Buffer.byteLength(JSON.stringify(change));
    let message = open.get(accountId);
    if (message === undefined || message.bytes + bytes > changesBytesMax) {
      message = { changes: [], bytes: 0 };
      open.set(accountId, message);
      messages.push({ subject: withdrawalsSubject(accountId), changes: message.changes });
    }
    message.changes.push(change);
    message.bytes += bytes;
  }
  return messages;
}
