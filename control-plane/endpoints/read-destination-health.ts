import { Type } from 'typebox';
import { nullable } from '../../shared/collections/define.ts';
import { findEntity } from '../draft/entity-store.ts';
import { summarizeHealth } from '../health/summarize-health.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });

export const readDestinationHealth = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/:id/health',
  scope: 'destination:find',
  id: 'getDestinationHealth',
  tag: 'Destinations',
  summary: 'Dispatch health of the last 24 hours',
  reply: Type.Object({
    status: Type.Enum(['HEALTHY', 'DEGRADED', 'UNHEALTHY', 'NO_DATA']),
    windowStart: instant,
    windowEnd: instant,
    totalDispatches: count,
    successCount: count,
    failureCount: count,
    stoppedCount: count,
    globalStopCount: count,
    successRate: nullable(Type.Number({ minimum: 0, maximum: 1 })),
    lastDispatchedAt: nullable(instant),
  }),
  async handle({ params, actor }, { storage, liveValues, now }) {
    const row = await findEntity(storage.fork(), actor.accountId, 'destinations', params['id'] ?? '');
    if (row === undefined) throw notFound('destination');
    return summarizeHealth(liveValues.healthReports(row.id), now().getTime());
  },
});
