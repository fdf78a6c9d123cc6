import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { randomText } from '../store/text.ts';
import type { Holder } from './live-sessions.ts';

const codeChars = 43;
/** Maximum number of unused links of one key or user. Beyond it, the links that expire first stop working. */
const linksOfHolderMax = 10;

/** How long a sign-in link is valid, and how long an invitation, which may wait in a mailbox. */
export const linkMs = { signIn: 3_600_000, invitation: 7 * 86_400_000 } as const;

/** Creates a link's code of 256 bits, which is stored only as a hash. Deletes expired links. */
export async function makeSignInLink(em: EntityManager, holder: Holder, expiresAt: Date, now: Date): Promise<string> {
  const code = randomText(codeChars);
  const { accountId, kind, id } = holder;
  await em.execute('delete from sign_in_links where expires_at <= ?', [now]);
  await em.execute(
    `delete from sign_in_links where account_id = ? and code_hash in (
       select code_hash from sign_in_links where account_id = ? and coalesce(user_id, key_id) = ?
       order by expires_at desc offset ?)`,
    [accountId, accountId, id, linksOfHolderMax - 1],
  );
  await em.execute(
    'insert into sign_in_links (code_hash, account_id, key_id, user_id, expires_at) values (?, ?, ?, ?, ?)',
    [hash(code), accountId, kind === 'key' ? id : null, kind === 'user' ? id : null, expiresAt],
  );
  return code;
}

/** Uses up a link and returns the principal that it signs in; undefined for an unknown, used or expired link. */
export async function redeemSignInLink(em: EntityManager, code: string, now: Date): Promise<Holder | undefined> {
  const [row] = await em.execute<Row[]>(
    'delete from sign_in_links where code_hash = ? and expires_at > ? returning account_id, key_id, user_id',
    [hash(code), now],
  );
  if (row === undefined) return undefined;
  const id = row.user_id ?? row.key_id;
  // A link of the previous release names neither a key nor a user.
  return id === null ? undefined : { accountId: row.account_id, kind: row.user_id === null ? 'key' : 'user', id };
}

type Row = { readonly account_id: string; readonly key_id: string | null; readonly user_id: string | null };

const hash = (code: string): string => createHash('sha256').update(code).digest('hex');
