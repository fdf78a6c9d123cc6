import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';

/** A sign-in of one browser to one account, with one API key. */
export type NewSession = { readonly accountId: string; readonly keyId: string; readonly expiresAt: Date };

/** Live sign-ins with one API key. Beyond, those that end first make room. */
export const sessionsOfKeyMax = 1_000;

/** Records a sign-in and returns its id. Sign-ins of the key that are over are deleted with that. */
export async function startSession(
  em: EntityManager,
  { accountId, keyId, expiresAt }: NewSession,
  now: Date,
): Promise<string> {
  const id = uuidv7();
  await em.execute('delete from sessions where key_id = ? and expires_at <= ?', [keyId, now]);
  await em.execute(
    `delete from sessions where id in (
       select id from sessions where key_id = ? order by expires_at desc offset ?)`,
    [keyId, sessionsOfKeyMax - 1],
  );
  await em.execute('insert into sessions (id, account_id, key_id, expires_at) values (?, ?, ?, ?)', [
    id,
    accountId,
    keyId,
    expiresAt,
  ]);
  return id;
}

/** Those of the given sign-ins that were neither signed out nor are over. */
export async function liveSessions(em: EntityManager, ids: readonly string[], now: Date): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await em.execute<{ id: string }[]>(
    `select id from sessions where id in (${ids.map(() => '?').join(', ')}) and expires_at > ?`,
    [...ids, now],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Signs a browser out: its cookie, and every copy of it, counts for nothing from then on. */
export async function endSession(em: EntityManager, id: string): Promise<void> {
  await em.execute('delete from sessions where id = ?', [id]);
}

/** Signs out every browser that is signed in with the API key of this live sign-in. */
export async function endSessionsOfKey(em: EntityManager, id: string): Promise<void> {
  await em.execute('delete from sessions where key_id = (select key_id from sessions where id = ?)', [id]);
}
