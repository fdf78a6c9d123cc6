import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { inTransaction } from '../../shared/postgres/in-transaction.ts';
import {
  deleteSuppression,
  selectSuppressions,
  suppressIdentifiers,
  SuppressionsFullError,
  WritersBusyError,
} from '../../shared/visitors/suppressions.ts';
import type { Suppression } from '../../shared/visitors/suppressions.ts';
import type { Identifier } from '../../shared/visitors/visitor-identity.ts';
import { badRequest, conflict, notFound, unavailable } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { insertAudit } from '../audit/record-audit.ts';
import { erasureReference } from '../erasures/erasure-endpoints.ts';
import { identifierOf, identifiersMax, listNames, lists } from './identifier-lists.ts';
import type { ListName } from './identifier-lists.ts';

const identifierList = (name: ListName, description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: lists[name].charactersMax }), {
      maxItems: identifiersMax,
      description,
    }),
  );

const suppressionReply = Type.Object({
  id: Type.String({ description: 'A keyed hash of the identifier, which is not stored itself.' }),
  kind: nullable(
    Type.Enum(
      listNames.map((name) => lists[name].name),
      { description: 'Null if a version without this list suppressed the identifier.' },
    ),
  ),
  suppressedAt: Type.String({ format: 'date-time' }),
  reference: nullable(Type.String()),
  erasureId: nullable(Type.String({ description: 'The erasure that suppressed the identifier of its visitor.' })),
});

function viewSuppression({ id, kind, sinceMs, reference, erasureId }: Suppression) {
  return {
    id,
    kind: listNames.map((name) => lists[name]).find((list) => list.kind === kind)?.name ?? null,
    suppressedAt: new Date(sinceMs).toISOString(),
    reference: reference ?? null,
    erasureId: erasureId ?? null,
  };
}

type Skipped = { readonly field: ListName; readonly index: number; readonly reason: 'visitor' | 'placeholder' };

type Place = Pick<Skipped, 'field' | 'index'>;

const filter = (name: ListName) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: lists[name].charactersMax,
      description: 'Only the suppression of this identifier: a list of one entry, or an empty list.',
    }),
  );

const idPattern = /^[0-9a-f]{64}$/;

export const suppressionEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/suppressions',
    scope: 'suppression:list',
    id: 'listSuppressions',
    tag: 'Visitors',
    summary: 'List suppressed identifiers, newest first; the identifiers themselves are not stored',
    query: Type.Object({
      ...pageQuery,
      userId: filter('userIds'),
      externalId: filter('externalIds'),
      email: filter('emails'),
      erasureId: Type.Optional(Type.String({ format: 'uuid', description: 'Only suppressions of one erasure.' })),
    }),
    reply: pageOf(suppressionReply),
    comparesPersonal: ({ externalId, email }) => (externalId ?? email) !== undefined,
    async handle({ query, principal }, { pool, paginator }) {
      const { accountId } = principal;
      const { userId, externalId, email, erasureId } = query;
      const list = { list: 'suppressions', accountId, filters: { userId, externalId, email, erasureId } };
      const { limit, after } = paginator.read(query, list);
      const asked = listNames.flatMap((name) => {
        const text = query[lists[name].name];
        return text === undefined ? [] : [{ text, identifier: identifierOf(name, text) }];
      });
      if (asked.length > 1) throw badRequest('at most one of userId, externalId and email can be given');
      const [one] = asked;
      const isNobody = one !== undefined && one.identifier === undefined;
      const rows = isNobody
        ? []
        : await selectSuppressions(
            pool,
            accountId,
            { identifier: one?.identifier, erasureId },
            { limit: limit + 1, after: after && { sinceMs: Number(after[0]), id: String(after[1]) } },
          );
      return paginator.page(list, limit, rows, (row) => [row.sinceMs, row.id], viewSuppression);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/suppressions',
    scope: 'suppression:create',
    id: 'createSuppressions',
    tag: 'Visitors',
    summary:
      'Suppress identifiers that no visitor has: events that name one are accepted with 200, dropped and counted, until ' +
      'the suppression is deleted. An identifier that a visitor has is skipped: erase the visitor with `suppress`',
    body: Type.Object(
      {
        userIds: identifierList(
          'userIds',
          'Ids of devices, or own ids of visitors. An event that has an externalId as well is of that person, and not dropped; ' +
            'it does not tie the id to the person.',
        ),
        externalIds: identifierList('externalIds', "The customer's ids."),
        emails: identifierList('emails', 'In any spelling.'),
        reference: erasureReference,
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({
      created: Type.Integer({ minimum: 0, description: 'Identifiers that are suppressed from now on.' }),
      existing: Type.Integer({ minimum: 0, description: 'Identifiers that were suppressed already.' }),
      skipped: Type.Array(
        Type.Object({
          field: Type.Enum([...listNames]),
          index: Type.Integer({ minimum: 0 }),
          reason: Type.Enum(['visitor', 'placeholder'], {
            description:
              'visitor: a visitor has the identifier, or assignments to experiments are stored for it; answered to keys without ' +
              '`pii:read` too, because such an identifier is not suppressed. placeholder: it identifies no visitor, as "null" does.',
          }),
        }),
      ),
    }),
    async handle({ body, principal }, { pool, now }) {
      const { accountId } = principal;
      const places = new Map<string, { readonly identifier: Identifier; readonly places: Place[] }>();
      const skipped: Skipped[] = [];
      for (const field of listNames) {
        for (const [index, text] of (body[field] ?? []).entries()) {
          const identifier = identifierOf(field, text);
          if (identifier === undefined) {
            skipped.push({ field, index, reason: 'placeholder' });
            continue;
          }
          const key = keyOf(identifier);
          const known = places.get(key);
          if (known === undefined) places.set(key, { identifier, places: [{ field, index }] });
          else known.places.push({ field, index });
        }
      }
      const sentCount = listNames.reduce((sum, field) => sum + (body[field]?.length ?? 0), 0);
      if (sentCount === 0) throw badRequest('userIds, externalIds or emails must have at least 1 identifier');
      if (sentCount > identifiersMax) {
        throw badRequest(
          `userIds, externalIds and emails must have at most ${identifiersMax} identifiers together, not ${sentCount}`,
        );
      }
      const identifiers = [...places.values()].map(({ identifier }) => identifier);
      const request = { accountId, identifiers, reference: body.reference };
      const { created, existing, owned } = await suppressIdentifiers(pool, request, {
        now: () => now().getTime(),
        audit: (client, count) =>
          insertAudit(client, principal, { action: 'suppression.create', details: { count } }, now()),
      }).catch((error: unknown) => {
        throw asApiError(error);
      });
      for (const identifier of owned) {
        for (const place of places.get(keyOf(identifier))?.places ?? []) skipped.push({ ...place, reason: 'visitor' });
      }
      return { created, existing, skipped };
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/suppressions/{id}',
    scope: 'suppression:delete',
    id: 'deleteSuppression',
    tag: 'Visitors',
    summary:
      'Delete a suppression. Events received earlier stay dropped; a later event that names the identifier begins a ' +
      'new visitor',
    reply: Type.Object({ deleted: Type.Literal(true) }),
    async handle({ params, principal }, { pool, now }) {
      const { id } = params;
      if (!idPattern.test(id)) throw notFound('suppression');
      await inTransaction(pool, async (client) => {
        const suppression = { id, atMs: now().getTime() };
        if (!(await deleteSuppression(client, principal.accountId, suppression))) throw notFound('suppression');
        await insertAudit(client, principal, { action: 'suppression.delete', entityId: id }, now());
      });
      return { deleted: true };
    },
  }),
];

const keyOf = ({ kind, value }: Identifier): string => `${kind}\n${value}`;

function asApiError(error: unknown): unknown {
  if (error instanceof SuppressionsFullError) return conflict(`${error.message}: delete some of them first`);
  if (error instanceof WritersBusyError) {
    const busy = unavailable(
      `${error.message}. The identifiers are suppressed: repeat the request to see which were skipped`,
    );
    busy.cause = error;
    return busy;
  }
  return error;
}
