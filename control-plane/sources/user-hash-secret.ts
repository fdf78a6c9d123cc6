import type { EntityManager } from '@mikro-orm/postgresql';
import { userHashSecretContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { visitorSourceTypes } from '../../shared/collections/source-types.ts';
import { randomText } from '../store/text.ts';

type SourceId = { readonly accountId: string; readonly id: string };

/** Whether the key of a source is public, so that a server has to sign the identifiers of its visitors. */
export const takesUserHash = (type: unknown): boolean => typeof type === 'string' && visitorSourceTypes.has(type);

/** Gives a source a new secret that signs identifiers of its visitors, and ends the previous secret. */
export async function issueUserHashSecret(
  em: EntityManager,
  secretBox: SecretBox,
  { accountId, id }: SourceId,
  now: Date,
): Promise<string> {
  const secret = `src_secret_${randomText(40)}`;
  await em.execute(
    `insert into source_secrets (account_id, source_id, sealed, created_at) values (?, ?, ?, ?)
     on conflict (account_id, source_id) do update set sealed = excluded.sealed, created_at = excluded.created_at`,
    [accountId, id, secretBox.seal(secret, userHashSecretContext(accountId, id)), now],
  );
  return secret;
}

/** The source's secret in the clear; null if it has none. */
export async function readUserHashSecret(
  em: EntityManager,
  secretBox: SecretBox,
  { accountId, id }: SourceId,
): Promise<string | null> {
  const [row] = await em.execute<{ readonly sealed: string }[]>(
    'select sealed from source_secrets where account_id = ? and source_id = ?',
    [accountId, id],
  );
  return row === undefined ? null : secretBox.open(row.sealed, userHashSecretContext(accountId, id));
}
