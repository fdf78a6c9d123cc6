import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { identitySettings, readIdentitySettings } from '../../shared/contracts/config/identity-settings.ts';
import { Account } from '../../shared/postgres/entities.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { addToOutbox } from '../publishing/outbox.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { changeIdentity, identityChange } from './identity-fields.ts';

const publishOnCreate = Type.Boolean({
  description:
    'Whether creating a version publishes it where the request does not say: for clients that know no other way. Such a ' +
    'request needs the scope version:publish. Not a part of versions: it holds at once.',
});

const reply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  publishOnCreate,
  identity: { ...identitySettings, description: 'How visitors are told apart. Not a part of versions: live at once.' },
});

const changeFields = { publishOnCreate: Type.Optional(publishOnCreate), identity: Type.Optional(identityChange) };

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
    uses: { publishing },
    tag: 'Account',
    summary: 'Change how the account is set',
    body: changeSchema(changeFields, reply),
    reply,
    async handle({ body, principal }, services) {
      const { account, outboxId } = await edit(services, principal, async ({ em, now }) => {
        const row = await findAccount(em, principal.accountId);
        const changed = changedFields(changeFields, body, view(row));
        const fields: string[] = [];
        if (changed.publishOnCreate !== undefined) {
          row.publishOnCreate = changed.publishOnCreate;
          fields.push('publishOnCreate');
        }
        const before = readIdentitySettings(row.identity);
        const change = changeIdentity(before, changed.identity ?? {});
        if (change.fields.length > 0) {
          row.identity = change.identity;
          fields.push(...change.fields.map((name) => `identity.${name}`));
        }
        if (fields.length > 0) recordAudit(em, principal, { action: 'account.update', details: { fields } }, now);
        const isPushed = change.fields.length > 0 && row.liveVersionId != null;
        return { account: view(row), outboxId: isPushed ? await addToOutbox(em, principal.accountId, now) : undefined };
      });
      if (outboxId !== undefined) await services.publishing.whenApplied(outboxId);
      return account;
    },
  }),
];

/** Whether a version of the account is published when it is created, where the request does not say. */
export async function publishesOnCreate(em: EntityManager, accountId: string): Promise<boolean> {
  return (await findAccount(em, accountId)).publishOnCreate;
}

function findAccount(em: EntityManager, accountId: string) {
  return em.findOneOrFail(Account, { id: accountId });
}

function view({ id, name, publishOnCreate: publishes, identity }: Awaited<ReturnType<typeof findAccount>>) {
  return { id, name, publishOnCreate: publishes, identity: readIdentitySettings(identity) };
}
