import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { User } from '../../shared/postgres/entities.ts';
import type { UserRow } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { principalOfKeyId } from '../keys/authenticate.ts';
import { scopesOfRole } from '../keys/roles.ts';

/** The API key or the user that a browser is signed in with. */
export type Holder = { readonly accountId: string; readonly kind: 'key' | 'user'; readonly id: string };

/** A sign-in of one browser to one account, as the sealed cookie names it. */
export type SessionId = { readonly accountId: string; readonly id: string };

/** Maximum number of live sign-ins of one API key or user. Beyond it, the sign-ins that expire first are ended. */
export const sessionsOfHolderMax = 1_000;

/** Records a sign-in and returns its id. Deletes expired sign-ins of the same key or user. */
export async function startSession(em: EntityManager, holder: Holder, expiresAt: Date, now: Date): Promise<string> {
  const id = uuidv7();
  const { accountId } = holder;
  await em.execute('delete from sessions where account_id = ? and coalesce(user_id, key_id) = ? and expires_at <= ?', [
    accountId,
    holder.id,
    now,
  ]);
  await em.execute(
    `delete from sessions where account_id = ? and id in (
       select id from sessions where account_id = ? and coalesce(user_id, key_id) = ? order by expires_at desc offset ?)`,
    [accountId, accountId, holder.id, sessionsOfHolderMax - 1],
  );
  await em.execute('insert into sessions (id, account_id, key_id, user_id, expires_at) values (?, ?, ?, ?, ?)', [
    id,
    accountId,
    holder.kind === 'key' ? holder.id : null,
    holder.kind === 'user' ? holder.id : null,
    expiresAt,
  ]);
  return id;
}

/** The signed-in key or user; undefined after a sign-out, after expiry, and if the key or user no longer exists. */
export async function principalOfSession(
  em: EntityManager,
  session: SessionId,
  now: Date,
): Promise<Principal | undefined> {
  const [row] = await em.execute<{ key_id: string | null; user_id: string | null }[]>(
    'select key_id, user_id from sessions where account_id = ? and id = ? and expires_at > ?',
    [session.accountId, session.id, now],
  );
  if (row === undefined) return undefined;
  const kind = row.user_id === null ? 'key' : 'user';
  return principalOfHolder(em, { accountId: session.accountId, kind, id: row.user_id ?? row.key_id ?? '' }, now);
}

/** The principal of an API key or user; undefined if it no longer exists, is revoked or has expired. */
export async function principalOfHolder(
  em: EntityManager,
  { accountId, kind, id }: Holder,
  now: Date,
): Promise<Principal | undefined> {
  if (kind === 'key') return principalOfKeyId(em, accountId, id, now);
  const user = await em.findOne(User, { accountId, id });
  return user === null ? undefined : principalOfUser(user);
}

export function principalOfUser({ accountId, id, email, role }: UserRow): Principal {
  return { accountId, kind: 'user', id, name: email, scopes: scopesOfRole(role), expiresAt: null };
}

/** Signs a browser out: from then on its cookie, and every copy of it, is invalid. */
export async function endSession(em: EntityManager, { accountId, id }: SessionId): Promise<void> {
  await em.execute('delete from sessions where account_id = ? and id = ?', [accountId, id]);
}

/** Signs out every browser that is signed in with the same API key or user as this live sign-in. */
export async function endSessionsLike(em: EntityManager, { accountId, id }: SessionId): Promise<void> {
  await em.execute(
    `delete from sessions where account_id = ? and coalesce(user_id, key_id) =
       (select coalesce(user_id, key_id) from sessions where account_id = ? and id = ?)`,
    [accountId, accountId, id],
  );
}

/**
 * Deletes a user's unused sign-in links. Also for a user who gets another role: the maker of a link may have lacked the
 * right to give that role.
 */
export async function deleteLinksOfUser(em: EntityManager, accountId: string, userId: string): Promise<void> {
  await em.execute('delete from sign_in_links where account_id = ? and user_id = ?', [accountId, userId]);
}

/** Signs a user out of every browser, and deletes unused sign-in links. Returns the number of browsers. */
export async function endSessionsOfUser(em: EntityManager, accountId: string, userId: string): Promise<number> {
  await deleteLinksOfUser(em, accountId, userId);
  const ended = await em.execute<unknown[]>('delete from sessions where account_id = ? and user_id = ? returning id', [
    accountId,
    userId,
  ]);
  return ended.length;
}
