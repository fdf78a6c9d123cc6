import type { Pool } from 'pg';
import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { destinationLabel } from '../../shared/collections/kind-labels.ts';
import { signedCertificate } from '../../shared/contracts/erasure-certificate.ts';
import { inTransaction } from '../../shared/postgres/in-transaction.ts';
import { selectErasureRecord, selectErasureRecords } from '../../shared/visitors/erasure-records.ts';
import type { ErasureRecord } from '../../shared/visitors/erasure-records.ts';
import { conflict, found, notFound } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { insertAudit } from '../audit/record-audit.ts';
import { isUuid } from '../store/text.ts';
import { listAccountKeys } from './account-keys.ts';
import { erasures } from './erasure-service.ts';
import { confirmTarget, retryTargets, selectTargets, targetStates } from './erasure-targets.ts';
import type { ErasureTarget } from './erasure-targets.ts';

export const erasureReference = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: String.raw`^[^\u0000]+$`,
    description: "The caller's own name for the request, such as a ticket. It is kept: do not name the person.",
  }),
);

const instant = Type.String({ format: 'date-time' });
const rows = (description: string) => Type.Integer({ minimum: 0, description });

const recordFields = {
  id: Type.String({ format: 'uuid' }),
  requestedAt: instant,
  erasedAt: Type.String({ format: 'date-time', description: 'Events received until then are dropped.' }),
  actorId: Type.String({ description: 'Id of the API key.' }),
  actorName: Type.String(),
  reference: nullable(Type.String()),
  suppressed: Type.Boolean({ description: 'Whether the request suppressed the identifiers of the visitor.' }),
  counts: Type.Object(
    {
      visitors: rows('The visitor and all visitors merged into it.'),
      identifiers: rows('Ids of these visitors, externalIds and e-mail addresses.'),
      recentEvents: rows('Events in the recent-events view.'),
      experimentAssignments: rows('Assignments to experiments.'),
      experimentVisitors: rows('Entries in the results of experiments.'),
    },
    {
      description: 'Rows deleted in PostgreSQL. Events in the log stay until retention removes them, and are not sent.',
    },
  ),
  dueAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'When all destinations must have deleted the visitor. Null: no deletion was requested from them.',
    }),
  ),
};

const target = Type.Object({
  id: Type.String({ description: 'Id of the destination.' }),
  type: Type.String(),
  label: Type.String({ description: 'The name of its kind.' }),
  name: Type.String({ description: 'Its name, or the name of its kind if it had none.' }),
  state: Type.Enum([...targetStates], {
    description:
      'pending: the request is retried until the deadline. requested: the platform accepted it and deletes later. nothing: the ' +
      'platform stores no personal data. manual: an operator deletes the visitor there, for the reason given, and confirms it, or ' +
      'retries. failed: there are no more attempts.',
  }),
  reason: nullable(Type.String()),
  reference: nullable(Type.String({ description: "The platform's own id of the deletion." })),
  attempts: Type.Integer({ minimum: 0 }),
  nextAttemptAt: nullable(instant),
  requestedAt: nullable(instant),
  doneAt: nullable(instant),
  confirmedBy: nullable(Type.String({ description: 'Name of the API key that confirmed it.' })),
});

const listedErasure = Type.Object(recordFields);

const erasureReply = Type.Object({
  ...recordFields,
  destinations: Type.Array(target, { description: 'Each destination that was enabled while the visitor existed.' }),
});

function viewErasure({
  id,
  requestedAtMs,
  erasedAtMs,
  dueAtMs,
  actor,
  reference,
  isSuppressed,
  counts,
}: ErasureRecord) {
  return {
    id,
    counts,
    requestedAt: new Date(requestedAtMs).toISOString(),
    erasedAt: new Date(erasedAtMs).toISOString(),
    actorId: actor.id,
    actorName: actor.name,
    reference: reference ?? null,
    suppressed: isSuppressed,
    dueAt: dueAtMs === undefined ? null : new Date(dueAtMs).toISOString(),
  };
}

function viewTarget(one: ErasureTarget) {
  return {
    id: one.destinationId,
    type: one.type,
    label: destinationLabel(one.type),
    name: one.name,
    state: one.state,
    reason: one.reason ?? null,
    reference: one.reference ?? null,
    attempts: one.attempts,
    nextAttemptAt: one.nextAttemptAt?.toISOString() ?? null,
    requestedAt: one.requestedAt?.toISOString() ?? null,
    doneAt: one.doneAt?.toISOString() ?? null,
    confirmedBy: one.confirmedBy ?? null,
  };
}

async function readErasure(pool: Pool, accountId: string, id: string) {
  if (!isUuid(id)) throw notFound('erasure');
  const record = await found(selectErasureRecord(pool, accountId, id), 'erasure');
  const targets = await selectTargets(pool, accountId, id);
  return { ...viewErasure(record), destinations: targets.map(viewTarget) };
}

export const erasureEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/erasures',
    scope: 'erasure:list',
    id: 'listErasures',
    audits: { action: 'erasure.list' },
    tag: 'Visitors',
    summary: 'List erasures of visitors, newest first, without their identifiers',
    query: Type.Object(pageQuery),
    reply: pageOf(listedErasure),
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const list = { list: 'erasures', accountId, filters: {} };
      const { limit, after } = paginator.read(query, list);
      const rows = await selectErasureRecords(pool, accountId, {
        limit: limit + 1,
        after: after && { requestedAtMs: Number(after[0]), id: String(after[1]) },
      });
      return paginator.page(list, limit, rows, (row) => [row.requestedAtMs, row.id], viewErasure);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/erasures/{id}',
    scope: 'erasure:find',
    id: 'getErasure',
    tag: 'Visitors',
    summary: 'Read one erasure and its state at each destination',
    reply: erasureReply,
    handle: ({ params, principal }, { pool }) => readErasure(pool, principal.accountId, params.id),
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/erasures/{id}/retry',
    scope: 'erasure:update',
    id: 'retryErasure',
    tag: 'Visitors',
    summary: 'Request an erasure again now, at destinations whose state is pending, failed or manual',
    body: Type.Object(
      { destinationId: Type.Optional(Type.String({ description: 'Only this destination. Default: all of them.' })) },
      { additionalProperties: false },
    ),
    bodyOptional: true,
    reply: erasureReply,
    async handle({ params, body, principal }, { pool, now }) {
      const { accountId } = principal;
      const { destinationId } = body;
      await readErasure(pool, accountId, params.id);
      await inTransaction(pool, async (client) => {
        const count = await retryTargets(client, accountId, params.id, { now: now(), destinationId });
        const audited = { action: 'erasure.retry', entityId: params.id, details: { destinations: count } };
        await insertAudit(client, principal, audited, now());
      });
      return readErasure(pool, accountId, params.id);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/erasures/{id}/destinations/{destinationId}/confirm',
    scope: 'erasure:update',
    id: 'confirmErasure',
    tag: 'Visitors',
    summary:
      'Record that an operator deleted the visitor at a destination by hand. The certificate names the key that did',
    reply: erasureReply,
    async handle({ params, principal }, { pool, now }) {
      const { accountId, name: by } = principal;
      const { id, destinationId } = params;
      const { destinations } = await readErasure(pool, accountId, id);
      if (!destinations.some((one) => one.id === destinationId)) throw notFound('destination of the erasure');
      await inTransaction(pool, async (client) => {
        if (!(await confirmTarget(client, accountId, id, { destinationId, by, now: now() }))) {
          throw conflict('the erasure is already done at this destination');
        }
        const audited = { action: 'erasure.confirm', entityId: id, details: { destinationId } };
        await insertAudit(client, principal, audited, now());
      });
      return readErasure(pool, accountId, id);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/erasures/{id}/certificate',
    scope: 'erasure:find',
    id: 'getErasureCertificate',
    audits: { action: 'certificate.read', entity: 'id' },
    uses: { erasures },
    tag: 'Visitors',
    summary:
      "The current state of the erasure: data erased, where and when, and data that retention still holds, until when. Signed with the account's " +
      'key, which GET /rest/v1/account/keys shows. `npm run verify-certificate` verifies it',
    reply: signedCertificate,
    async handle({ params, principal }, { erasures }) {
      if (!isUuid(params.id)) throw notFound('erasure');
      return found(erasures.certify(principal.accountId, params.id), 'erasure');
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/account/keys',
    scope: 'account:find',
    id: 'listAccountKeys',
    tag: 'Account',
    summary: 'The public keys that verify signatures of the account, as a JSON Web Key Set; older keys stay',
    reply: Type.Object({
      keys: Type.Array(
        Type.Object({
          kty: Type.Literal('OKP'),
          crv: Type.Literal('Ed25519'),
          x: Type.String(),
          kid: Type.String(),
          use: Type.Literal('sig'),
          alg: Type.Literal('EdDSA'),
        }),
      ),
    }),
    handle: async ({ principal }, { pool }) => ({ keys: [...(await listAccountKeys(pool, principal.accountId))] }),
  }),
];
