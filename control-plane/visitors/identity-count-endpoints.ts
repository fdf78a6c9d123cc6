import { Type } from 'typebox';
import { identityReasons, readIdentityCounts } from '../../shared/visitors/identity-counts.ts';
import type { IdentityReason } from '../../shared/visitors/identity-counts.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';

const rangeMs = { '24h': 86_400_000, '7d': 7 * 86_400_000 } as const;
/** The most rows in one answer; each is for one source and one reason. */
const rowsMax = 1_000;

const reasons = Object.keys(identityReasons) as IdentityReason[];
const instant = Type.String({ format: 'date-time' });

export const identityCountEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/identity-counts',
    scope: 'source:list',
    id: 'listIdentityCounts',
    tag: 'Visitors',
    summary:
      'Identifiers and values of events that were not stored with their visitors, by source and reason, the most frequent first. Counted by ' +
      'the hour of receipt and kept for 8 days',
    query: Type.Object({
      range: Type.Optional(
        Type.Enum(['24h', '7d'], { default: '24h', description: 'Length of the range, which ends now.' }),
      ),
      sourceId: Type.Optional(
        Type.String({ minLength: 1, maxLength: 100, description: 'Only events of this source.' }),
      ),
    }),
    reply: Type.Object({
      from: instant,
      to: instant,
      entities: Type.Array(
        Type.Object({
          sourceId: Type.String(),
          reason: Type.Enum(reasons, {
            description: reasons.map((reason) => `${reason}: ${identityReasons[reason]}`).join('; '),
          }),
          count: Type.Integer({ minimum: 1 }),
          lastAt: instant,
        }),
      ),
    }),
    async handle({ query, principal }, { pool, now }) {
      const to = now();
      const since = new Date(to.getTime() - rangeMs[query.range ?? '24h']);
      const filters = { since, sourceId: query.sourceId, limit: rowsMax };
      const figures = await readIdentityCounts(pool, principal.accountId, filters);
      return {
        from: since.toISOString(),
        to: to.toISOString(),
        entities: figures.map(({ lastAt, ...figure }) => ({ ...figure, lastAt: lastAt.toISOString() })),
      };
    },
  }),
];
