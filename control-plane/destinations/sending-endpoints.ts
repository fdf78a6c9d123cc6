import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { sumHealthSteps } from '../health/health-series.ts';
import { healthReply, summarizeHealth } from '../health/summarize-health.ts';
import { accessRefusedReply, viewSending } from '../health/view-sending.ts';
import { liveValues } from '../health/live-values.ts';
import { logFigures } from '../health/log-figures.ts';
import { requireEntity } from '../draft/entity-store.ts';
import { platformErrorReply } from './exchange-view.ts';
import { listFailures } from './list-failures.ts';

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });

/** The health of a destination, its waiting events, the state of its requests, and why events failed. */
export const sendingEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/health',
    scope: 'destination:find',
    id: 'getDestinationHealth',
    uses: { liveValues },
    tag: 'Destinations',
    summary: 'Dispatch health of the last 24 hours',
    reply: healthReply,
    async handle({ params, principal }, { storage, liveValues, now }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
      return summarizeHealth(liveValues.healthReports(row.id), now().getTime());
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/health/series',
    scope: 'destination:find',
    id: 'getDestinationHealthSeries',
    uses: { liveValues },
    tag: 'Destinations',
    summary: 'Dispatch health of the last 24 hours, per step',
    query: Type.Object({
      stepMinutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 60, default: 60, description: 'Length of a step, in minutes.' }),
      ),
    }),
    reply: Type.Object({
      stepMinutes: count,
      steps: Type.Array(
        Type.Object({
          at: Type.Integer({ description: 'When the step began, in ms since the epoch.' }),
          succeeded: count,
          failed: count,
          stopped: count,
          blocked: { ...count, description: 'Events stopped by a dispatch rule of the account.' },
        }),
        { description: 'Oldest first; the last one is not over yet.' },
      ),
    }),
    async handle({ params, query, principal }, { storage, liveValues, now }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
      const stepMinutes = query.stepMinutes ?? 60;
      const steps = Math.ceil((24 * 60) / stepMinutes);
      const reports = liveValues.healthReports(row.id);
      return { stepMinutes, steps: sumHealthSteps(reports, { nowMs: now().getTime(), stepMinutes, steps }) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/backlog',
    scope: 'destination:find',
    id: 'getDestinationBacklog',
    uses: { logFigures },
    tag: 'Destinations',
    summary: 'Events that wait for a destination in the log',
    reply: Type.Object({
      waitingFrames: {
        ...count,
        description: 'Messages that the destination has not finished; a message contains one event or many.',
      },
      retryingFrames: { ...count, description: 'Messages that wait for another attempt.' },
      deadLetters: { ...count, description: 'Dead letters, kept until they are replayed, deleted or expire.' },
    }),
    async handle({ params, principal }, { storage, logFigures }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
      return (await logFigures.read()).backlogOf(row.id);
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/sending',
    scope: 'destination:find',
    id: 'getDestinationSending',
    uses: { liveValues },
    tag: 'Destinations',
    summary: 'State of the requests to a destination: concurrency, response time, breaker',
    reply: Type.Object({
      breaker: nullable(
        Type.Enum(['closed', 'open', 'probing'], {
          description:
            'open: sending is paused after repeated failures. probing: one request at a time until it succeeds. ' +
            'null: no request has been sent yet.',
        }),
      ),
      isAccessRefused: accessRefusedReply,
      concurrency: nullable({
        ...count,
        description: 'The concurrency limit, adapted to how the platform answers.',
      }),
      answerMs: nullable(
        Type.Object({
          half: Type.Number({ description: 'Median response time of the last 64 requests, in ms.' }),
          most: Type.Number({ description: '95th percentile of the same response times, in ms.' }),
        }),
      ),
      at: nullable({ ...instant, description: 'Time of the last attempt.' }),
    }),
    async handle({ params, principal }, { storage, liveValues }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
      return viewSending(liveValues.healthReports(row.id));
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}/failures',
    scope: 'destination:find',
    id: 'listDestinationFailures',
    tag: 'Destinations',
    summary:
      'Why recent events did not reach a destination, by reason and by answer of the platform, the most frequent first, 50 at most',
    reply: Type.Object({
      entities: Type.Array(
        Type.Object({
          reason: Type.String(),
          outcome: Type.Enum(['retrying', 'rejected']),
          error: nullable(platformErrorReply),
          events: { ...count, description: 'Events in the recent-events view.' },
          lastAt: instant,
          lastEventId: Type.String(),
        }),
      ),
    }),
    async handle({ params, principal }, { storage, pool }) {
      const { accountId } = principal;
      const row = await requireEntity(storage.fork(), accountId, 'destinations', params.id);
      return { entities: await listFailures(pool, accountId, row.id) };
    },
  }),
];
