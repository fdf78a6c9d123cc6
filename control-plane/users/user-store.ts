import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { User } from '../../shared/postgres/entities.ts';
import type { UserRow } from '../../shared/postgres/entities.ts';
import { conflict } from '../api/api-error.ts';
import type { Position } from '../api/pagination.ts';
import type { RoleName } from '../keys/roles.ts';
import { isUuid } from '../store/text.ts';

/** Users of one account. */
export const usersMax = 1_000;

export const foldEmail = (email: string): string => email.trim().toLowerCase();

/**
 * Adds a user. The caller holds the account's lock. Throws a 409 if the address is taken or the account has its maximum
 * number of users.
 */
export async function addUser(
  em: EntityManager,
  accountId: string,
  given: { readonly email: string; readonly role: RoleName; readonly subject?: string },
  now: Date,
): Promise<UserRow> {
  const email = foldEmail(given.email);
  if ((await em.count(User, { accountId, email })) > 0) throw conflict(`${email} is already a user of this account`);
  if ((await em.count(User, { accountId })) >= usersMax) {
    throw conflict(`an account may have ${usersMax} users: remove one first`);
  }
  const { role, subject = null } = given;
  const row = em.create(User, { id: uuidv7(), accountId, email, role, subject, createdAt: now, signedInAt: null });
  await em.persist(row).flush();
  return row;
}

/** Up to `limit` users of an account after a position, newest first. */
export async function listUsers(
  em: EntityManager,
  accountId: string,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<UserRow[]> {
  const query = em.createQueryBuilder(User).where({ accountId });
  if (page.after !== undefined) {
    const [createdAtMs, id] = page.after;
    void query.andWhere('(created_at, id) < (?, ?::uuid)', [new Date(Number(createdAtMs)), String(id)]);
  }
  return query.orderBy({ createdAt: 'desc', id: 'desc' }).limit(page.limit).getResultList();
}

export async function findUser(em: EntityManager, accountId: string, id: string): Promise<UserRow | undefined> {
  return (isUuid(id) ? await em.findOne(User, { accountId, id }) : null) ?? undefined;
}

/** Whether an account would have no admin without this user. The caller holds the account's lock. */
export async function isLastAdmin(em: EntityManager, { accountId, role }: UserRow): Promise<boolean> {
  return role === 'admin' && (await em.count(User, { accountId, role })) === 1;
}

/** Number of browsers in which each user of an account is signed in. */
export async function countSessions(
  em: EntityManager,
  accountId: string,
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const rows = await em.execute<{ user_id: string; live: string }[]>(
    `select user_id, count(*) as live from sessions
     where account_id = ? and user_id is not null and expires_at > ? group by user_id`,
    [accountId, now],
  );
  return new Map(rows.map(({ user_id: id, live }) => [id, Number(live)]));
}
