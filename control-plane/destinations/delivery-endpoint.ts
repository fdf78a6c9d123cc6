import { Type } from 'typebox';
import { textOf, nullable } from '../../shared/contracts/config/define-collection.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { readTime } from '../api/time-range.ts';
import { loadDraft, requireEntity } from '../draft/entity-store.ts';
import { deliveryRangeMaxMs, reportDelivery } from '../health/delivery-report.ts';
import type { DeliveryStep, ReasonCount } from '../health/delivery-report.ts';
import { funnelFields } from '../health/funnel-fields.ts';
import { liveValues } from '../health/live-values.ts';

const instant = Type.String({ format: 'date-time' });
const count = Type.Integer({ minimum: 0 });

const reasonKinds = ['mapping', 'category', 'consent', 'erased', 'platform', 'skipped', 'other'] as const;

const deliveryReply = Type.Object({
  from: { ...instant, description: 'When the first step begins: the range is widened to whole steps.' },
  to: instant,
  stepMs: Type.Integer({ description: 'Length of a step, in ms.' }),
  since: nullable({
    ...instant,
    description:
      'Events received before this time are not counted. It is later than `from` if the counts do not go back that far.',
  }),
  total: Type.Object(funnelFields),
  names: Type.Array(
    Type.Object({
      event: nullable(
        Type.String({
          description:
            'The name, cut after 100 characters. null: events of all other names; for each destination a pipeline counts 20 names separately.',
        }),
      ),
      ...funnelFields,
    }),
    { description: 'Outcomes by event name, the most frequent first.' },
  ),
  filtered: Type.Array(
    Type.Object({
      kind: Type.Enum([...reasonKinds], {
        description:
          'mapping: a mapping stops it. category: a dispatch rule of the account. consent: a purpose. erased: the visitor was erased. platform: the platform ' +
          'discarded it. skipped: while it waited, the live rules stopped sending it here, or it left the log. other: reasons beyond the first 80.',
      }),
      rule: nullable(
        Type.String({ description: 'Id of the mapping, name of the category or purpose, or the reason.' }),
      ),
      name: nullable(Type.String({ description: 'Name of the mapping, if the draft still has it.' })),
      events: count,
    }),
  ),
  deadLetters: Type.Array(
    Type.Object({
      reason: Type.String({
        description:
          'refused, exhausted (no attempt left), no_room (in the retry log), unreadable, over_budget (rules too costly) or set_aside.',
      }),
      events: count,
    }),
  ),
  steps: Type.Array(
    Type.Object({
      at: Type.Integer({ description: 'When the step began, in ms since the epoch.' }),
      ...funnelFields,
      requests: { ...count, description: 'Requests answered in this step, whenever their events were received.' },
      throttled: { ...count, description: 'Attempts that were answered with "too many requests".' },
      answerMs: nullable(
        Type.Object({
          half: Type.Number({ description: 'Approximate median response time, in ms.' }),
          most: Type.Number({ description: 'Approximate 95th percentile of the response time, in ms.' }),
        }),
      ),
    }),
    { description: 'Oldest first.' },
  ),
});

const dayMs = 86_400_000;

/** Outcomes of the events of a destination. */
export const getDelivery = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/{id}/delivery',
  scope: 'destination:find',
  id: 'getDestinationDelivery',
  uses: { liveValues },
  tag: 'Destinations',
  summary: 'The events received in a range by outcome: received, filtered, waiting, retrying, dead letters, delivered',
  query: Type.Object({
    from: Type.Optional({
      ...instant,
      description: 'Events received at this time or later. Default: a day before `to`.',
    }),
    to: Type.Optional({
      ...instant,
      description: 'Events received before this time. Default: now. At most 7 days after `from`.',
    }),
    event: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'Limits the total and the steps to events of this name.',
      }),
    ),
  }),
  reply: deliveryReply,
  async handle({ params, query, principal }, { storage, liveValues, now }) {
    const { accountId } = principal;
    const row = await requireEntity(storage.fork(), accountId, 'destinations', params.id);
    const toMs = readTime('to', query.to) ?? now().getTime();
    const fromMs = readTime('from', query.from) ?? toMs - dayMs;
    if (fromMs >= toMs) throw badRequest('from must be before to');
    if (toMs - fromMs > deliveryRangeMaxMs) throw badRequest('from and to must be at most 7 days apart');
    const report = reportDelivery(liveValues.deliveryReports(row.id), {
      fromMs,
      toMs,
      event: query.event?.slice(0, 100),
    });
    const { mappings } = await loadDraft(storage.fork(), accountId, 'mappings');
    const nameOf = (id: string): string | null => textOf(mappings.find((one) => one.id === id)?.['name']) || null;
    return {
      from: new Date(report.fromMs).toISOString(),
      to: new Date(report.toMs).toISOString(),
      stepMs: report.stepMs,
      since: report.sinceMs === null ? null : new Date(report.sinceMs).toISOString(),
      total: report.total,
      names: [...report.names],
      filtered: report.filtered.map((one) => viewReason(one, nameOf)),
      deadLetters: [...report.deadLetters],
      steps: report.steps.map((step: DeliveryStep) => ({ ...step })),
    };
  },
});

function viewReason({ reason, events }: ReasonCount, nameOf: (id: string) => string | null) {
  const [first = '', ...rest] = reason.split(' ');
  const kind = reasonKinds.find((one) => one === first) ?? 'other';
  const rule = rest.join(' ');
  return { kind, rule: rule === '' ? null : rule, name: kind === 'mapping' ? nameOf(rule) : null, events };
}
