import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { Account } from '../../shared/postgres/entities.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';

const publishOnCreate = Type.Boolean({
  description:
    'Whether creating a version publishes it where the request does not say: for clients that know no other way. Such a ' +
    'request needs the scope version:publish. Not a part of versions: it holds at once.',
});

const reply = Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String(), publishOnCreate });

const changeFields = { publishOnCreate: Type.Optional(publishOnCreate) };

export const accountEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/account',
    scope: 'account:find',
    id: 'getAccount',
    tag: 'Account',
    summary: 'The account of the key, and how it is set',
    reply,
    handle: async ({ principal }, { storage }) => view(await findAccount(storage.fork(), principal.accountId)),
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/account',
    scope: 'account:update',
    id: 'updateAccount',
    tag: 'Account',
    summary: 'Change how the account is set',
    body: changeSchema(changeFields, reply),
    reply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, async ({ em, now }) => {
        const account = await findAccount(em, principal.accountId);
        const changed = changedFields(changeFields, body, view(account));
        if (changed.publishOnCreate !== undefined) {
          account.publishOnCreate = changed.publishOnCreate;
          recordAudit(em, principal, { action: 'account.update', details: { fields: ['publishOnCreate'] } }, now);
        }
        return view(account);
      }),
  }),
];

/** Whether a version of the account is published when it is created, where the request does not say. */
export async function publishesOnCreate(em: EntityManager, accountId: string): Promise<boolean> {
  return (await findAccount(em, accountId)).publishOnCreate;
}

function findAccount(em: EntityManager, accountId: string) {
  return em.findOneOrFail(Account, { id: accountId });
}

function view({ id, name, publishOnCreate: publishes }: Awaited<ReturnType<typeof findAccount>>) {
  return { id, name, publishOnCreate: publishes };
}
