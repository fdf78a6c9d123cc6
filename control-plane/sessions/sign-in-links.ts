import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { randomText } from '../store/text.ts';

/** What a link stands for, and until when. */
export type SignInLink = { readonly accountId: string; readonly key: string; readonly expiresAt: Date };

const codeChars = 43;

/** Makes a link's code, 256 bits: only this answer has it. Links that were never used go, once they are over. */
export async function makeSignInLink(
  em: EntityManager,
  secretBox: SecretBox,
  { accountId, key, expiresAt }: SignInLink,
  now: Date,
): Promise<string> {
  const code = randomText(codeChars);
  await em.execute('delete from sign_in_links where expires_at <= ?', [now]);
  await em.execute('insert into sign_in_links (code_hash, account_id, sealed_key, expires_at) values (?, ?, ?, ?)', [
    hash(code),
    accountId,
    secretBox.seal(key, contextOf(accountId)),
    expiresAt,
  ]);
  return code;
}

/** The API key of a link, which is gone with that; undefined for one that is unknown, used or over. */
export async function redeemSignInLink(
  em: EntityManager,
  secretBox: SecretBox,
  code: string,
  now: Date,
): Promise<string | undefined> {
  const [row] = await em.execute<Row[]>(
    'delete from sign_in_links where code_hash = ? and expires_at > ? returning account_id, sealed_key',
    [hash(code), now],
  );
  return row === undefined ? undefined : secretBox.open(row.sealed_key, contextOf(row.account_id));
}

type Row = { readonly account_id: string; readonly sealed_key: string };

const hash = (code: string): string => createHash('sha256').update(code).digest('hex');
const contextOf = (accountId: string): string => `${accountId}/sign-in-link`;
