import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { Account } from '../../shared/postgres/entities.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Principal } from '../api/define-endpoint.ts';

/** Who is signed in, and what for. */
export const signedInReply = Type.Object({
  accountId: Type.String({ format: 'uuid' }),
  accountName: Type.String(),
  keyId: Type.String({ format: 'uuid' }),
  keyName: Type.String(),
  scopes: Type.Array(Type.String()),
});

export const sessionReply = Type.Object({
  accounts: Type.Array(signedInReply, { description: 'One an account; those whose key has ended are not among them.' }),
});

export async function viewSignedIn(em: EntityManager, principal: Principal): Promise<JsonObject> {
  const { name } = await em.findOneOrFail(Account, { id: principal.accountId });
  const { accountId, keyId, keyName, scopes } = principal;
  return { accountId, accountName: name, keyId, keyName, scopes };
}
