import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { identitySettings, readIdentitySettings } from '../../shared/contracts/config/identity-settings.ts';
import type { PlanSettings } from '../../shared/contracts/config/plan-settings.ts';
import {
  readPlanSettings,
  unknownEventsSetting,
  unknownPropertiesSetting,
} from '../../shared/contracts/config/plan-settings.ts';
import { Account } from '../../shared/postgres/entities.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { edit } from '../draft/edit-entities.ts';
import { recheckStreams } from '../keys/endpoints.ts';
import { addToOutbox } from '../publishing/outbox.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { changeIdentity, identityChange } from './identity-fields.ts';

const publishOnCreate = Type.Boolean({
  description:
    'Whether creating a version also publishes it when the request does not set `publish`: for clients that cannot set it. Such a ' +
    'request needs the scope version:publish. Not versioned: a change takes effect immediately.',
});

const masksPersonalData = Type.Boolean({
  description:
    'Whether keys without the scope pii:read see only the shape of the values of visitors and events, and cannot search ' +
    'visitors by a value. Not versioned: a change takes effect immediately, for open live views at their next keep-alive, at the latest.',
});

const approvalNeeded = Type.Boolean({
  description:
    'Whether a version goes live only after a key or user other than its author has approved it. This also holds for a rollback ' +
    'and for the platform library. A key counts as the user that created it. Not versioned: a change takes effect immediately.',
});

const reply = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  publishOnCreate,
  masksPersonalData,
  requiresApproval: approvalNeeded,
  unknownEvents: unknownEventsSetting,
  unknownProperties: unknownPropertiesSetting,
  identity: {
    ...identitySettings,
    description: 'How visitors are identified. Not versioned: a change takes effect immediately.',
  },
});

const changeFields = {
  publishOnCreate: Type.Optional(publishOnCreate),
  masksPersonalData: Type.Optional(masksPersonalData),
  requiresApproval: Type.Optional(approvalNeeded),
  identity: Type.Optional(identityChange),
  unknownEvents: Type.Optional(unknownEventsSetting),
  unknownProperties: Type.Optional(unknownPropertiesSetting),
};

export const accountEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/account',
    scope: 'account:find',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Read the account of the key and its settings',
    reply,
    handle: async ({ principal }, { storage }) => view(await findAccount(storage.fork(), principal.accountId)),
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/account',
    scope: 'account:update',
    id: 'updateAccount',
    uses: { publishing, recheckStreams },
    tag: 'Account',
    summary:
      'Change the settings of the account. Settings that concern events take effect at once: the answer is sent when every process ' +
      'uses them, or after 2 seconds',
    body: changeSchema(changeFields, reply),
    reply,
    async handle({ body, principal }, services) {
      const { account, outboxId, fields } = await edit(services, principal, async ({ em, now }) => {
        const row = await findAccount(em, principal.accountId);
        const changed = changedFields(changeFields, body, view(row));
        const fields: string[] = [];
        if (changed.publishOnCreate !== undefined) {
          row.publishOnCreate = changed.publishOnCreate;
          fields.push('publishOnCreate');
        }
        if (changed.masksPersonalData !== undefined) {
          row.masksPersonalData = changed.masksPersonalData;
          fields.push('masksPersonalData');
        }
        if (changed.requiresApproval !== undefined) {
          row.requiresApproval = changed.requiresApproval;
          fields.push('requiresApproval');
        }
        const before = readIdentitySettings(row.identity);
        const change = changeIdentity(before, changed.identity ?? {});
        if (change.fields.length > 0) {
          row.identity = change.identity;
          fields.push(...change.fields.map((name) => `identity.${name}`));
        }
        const plan = planChange(changed);
        if (Object.keys(plan).length > 0) row.planSettings = { ...row.planSettings, ...plan };
        fields.push(...Object.keys(plan));
        if (fields.length > 0) recordAudit(em, principal, { action: 'account.update', details: { fields } }, now);
        const pushed = [...change.fields.map((name) => `identity.${name}`), ...Object.keys(plan)];
        const isPushed = pushed.length > 0 && row.liveVersionId != null;
        const check = {
          documentBytesMax: services.publishing.documentBytesMax(),
          refusal: `${pushed.join(', ')}: the live configuration would become too large to publish`,
        };
        // The outbox wakes the publisher, which reads what this transaction commits.
        const outboxId = isPushed ? await addToOutbox(em, principal.accountId, now, check) : undefined;
        return { account: view(row), outboxId, fields };
      });
      if (fields.includes('masksPersonalData')) await services.recheckStreams(principal.accountId);
      if (outboxId !== undefined) await services.publishing.whenApplied(outboxId);
      return account;
    },
  }),
];

/** Whether creating a version of the account publishes it if the request does not set `publish`. */
export async function publishesOnCreate(em: EntityManager, accountId: string): Promise<boolean> {
  return (await findAccount(em, accountId)).publishOnCreate;
}

/** Whether keys without `pii:read` see only the shape of personal values. */
export async function masksValues(em: EntityManager, accountId: string): Promise<boolean> {
  return (await findAccount(em, accountId)).masksPersonalData;
}

/** Whether only approved versions go live. */
export async function requiresApproval(em: EntityManager, accountId: string): Promise<boolean> {
  return (await findAccount(em, accountId)).requiresApproval;
}

function findAccount(em: EntityManager, accountId: string) {
  return em.findOneOrFail(Account, { id: accountId });
}

/** The part of a change that concerns events and properties outside the tracking plan. */
function planChange({ unknownEvents, unknownProperties }: Partial<PlanSettings>): Partial<PlanSettings> {
  return { ...(unknownEvents && { unknownEvents }), ...(unknownProperties && { unknownProperties }) };
}

function view({
  id,
  name,
  publishOnCreate: publishes,
  masksPersonalData: masks,
  requiresApproval: isApprovalRequired,
  identity,
  planSettings,
}: Awaited<ReturnType<typeof findAccount>>) {
  const plan = readPlanSettings(planSettings);
  return {
    id,
    name,
    publishOnCreate: publishes,
    masksPersonalData: masks,
    requiresApproval: isApprovalRequired,
    identity: readIdentitySettings(identity),
    ...plan,
  };
}
