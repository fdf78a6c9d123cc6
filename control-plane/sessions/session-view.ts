import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { Account, User } from '../../shared/postgres/entities.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Principal } from '../api/define-endpoint.ts';

const uuid = Type.String({ format: 'uuid' });

/** The signed-in API key or user, and its accounts. */
export const signedInReply = Type.Object({
  accountId: uuid,
  accountName: Type.String(),
  keyId: nullable(uuid),
  keyName: nullable(Type.String()),
  user: nullable(Type.Object({ id: uuid, email: Type.String(), role: Type.String() })),
  scopes: Type.Array(Type.String()),
});

export const sessionReply = Type.Object({
  accounts: Type.Array(signedInReply, {
    description: 'One per account. Accounts whose key is no longer valid or whose user was removed are left out.',
  }),
  singleSignOn: nullable(
    Type.String({ description: 'The label of the button for single sign-on; null if there is none.' }),
  ),
});

export async function viewSignedIn(em: EntityManager, principal: Principal): Promise<JsonObject> {
  const { accountId, kind, id, name, scopes } = principal;
  const account = await em.findOneOrFail(Account, { id: accountId });
  const user = kind === 'user' ? await em.findOneOrFail(User, { accountId, id }) : undefined;
  const key = kind === 'key' ? { keyId: id, keyName: name } : { keyId: null, keyName: null };
  return {
    accountId,
    accountName: account.name,
    ...key,
    user: user === undefined ? null : { id, email: user.email, role: user.role },
    scopes,
  };
}
