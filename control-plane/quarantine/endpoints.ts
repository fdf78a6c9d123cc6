import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { isId } from '../../shared/contracts/subjects.ts';
import { envelopeOf } from '../../shared/nats/quarantine/quarantine.ts';
import type { QuarantineFilter, QuarantinedEvent } from '../../shared/nats/quarantine/quarantine.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { readTimeRange } from '../api/time-range.ts';
import { withAudit } from '../draft/audited-effect.ts';
import { quarantine } from './quarantine-service.ts';
import type { DoneWithQuarantine } from './quarantine-service.ts';

const instant = Type.String({ format: 'date-time' });
const filterFields = {
  rule: Type.Optional(
    Type.String({
      description:
        'Only events that this rule quarantined: the id of a rule or of an event of the plan, too-costly, unknown-event or unknown-property.',
    }),
  ),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only events quarantined at this time or later.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Only events quarantined before this time.' })),
};

const chosen = Type.Object(
  {
    ...filterFields,
    ids: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9]{1,15}$' }), {
        minItems: 1,
        maxItems: 1_000,
        description: '`id` of each event, from GET /rest/v1/quarantine.',
      }),
    ),
    cursor: pageQuery.cursor,
  },
  { additionalProperties: false },
);

const entry = Type.Object({
  id: Type.String({ description: 'Id of the quarantined event, for `ids`.' }),
  eventId: Type.String(),
  event: Type.String({ description: 'Name of the event.' }),
  sourceId: Type.String(),
  receivedAt: instant,
  quarantinedAt: instant,
  rules: Type.Array(Type.String(), { description: 'Rules that the event breaks; the first one quarantines it.' }),
  releases: Type.Integer({ minimum: 0, description: 'How often it was released and quarantined again.' }),
});

const pagination = Type.Object({ nextCursor: nullable(Type.String()), hasMore: Type.Boolean() });

export const quarantineEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/quarantine',
    scope: 'quarantine:list',
    id: 'listQuarantine',
    audits: { action: 'quarantine.list' },
    uses: { quarantine },
    tag: 'Quarantine',
    summary: 'List the events that rules of the tracking plan quarantined, the oldest first, without their content',
    query: Type.Object({ ...pageQuery, ...filterFields }),
    reply: pageOf(entry),
    async handle({ query, principal }, { paginator, quarantine }) {
      const { accountId } = principal;
      const { rule, from, to } = query;
      const list = { list: 'quarantine', accountId, filters: { rule, from, to } };
      const { limit, after } = paginator.read(query, list);
      const request = { accountId, filter: readFilter(query), range: rangeOf(after) };
      const { events, next } = await quarantine.list(request, limit);
      return paginator.pageUpTo(list, events.map(view), next && [next.fromSeq, next.endSeq]);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/quarantine/release',
    scope: 'quarantine:release',
    id: 'releaseQuarantine',
    uses: { quarantine },
    isCostly: true,
    tag: 'Quarantine',
    summary:
      'Release quarantined events: all, or by rule, time or ids. The live version judges each event again, with its ' +
      'original time of receipt. Released events keep their order and come after events that were processed meanwhile. An event that breaks a rule again is quarantined again. ' +
      'One call releases up to 1,000; repeat it with the cursor while there are more',
    body: chosen,
    bodyOptional: true,
    reply: Type.Object({ released: Type.Integer({ minimum: 0, description: 'By this call.' }), pagination }),
    async handle({ body, principal }, services) {
      const { count, pagination: rest } = await dealWith(services, principal, 'release', body, (request) =>
        services.quarantine.release(request),
      );
      return { released: count, pagination: rest };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/quarantine/delete',
    scope: 'quarantine:delete',
    id: 'deleteQuarantine',
    uses: { quarantine },
    tag: 'Quarantine',
    summary:
      'Delete quarantined events permanently: all, or by rule, time or ids. One call deletes up to 1,000; repeat it ' +
      'with the cursor while there are more',
    body: chosen,
    bodyOptional: true,
    reply: Type.Object({ deleted: Type.Integer({ minimum: 0, description: 'By this call.' }), pagination }),
    async handle({ body, principal }, services) {
      const { count, pagination: rest } = await dealWith(services, principal, 'delete', body, (request) =>
        services.quarantine.delete(request),
      );
      return { deleted: count, pagination: rest };
    },
  }),
];

type Chosen = Static<typeof chosen>;
type Request = {
  readonly accountId: string;
  readonly filter: QuarantineFilter;
  readonly range: ReturnType<typeof rangeOf>;
};

async function dealWith(
  services: CoreServices,
  principal: Principal,
  verb: 'release' | 'delete',
  body: Chosen,
  effect: (request: Request) => Promise<DoneWithQuarantine>,
) {
  const { accountId } = principal;
  const { rule, from, to, ids } = body;
  const list = { list: `quarantine-${verb}`, accountId, filters: { rule, from, to, ids: ids?.join(',') } };
  const { after } = services.paginator.read(body, list);
  const request = { accountId, filter: readFilter(body), range: rangeOf(after) };
  const { count, next } = await withAudit(services, principal, {
    audited: {
      action: `quarantine.${verb}`,
      details: { rule: rule ?? null, from: from ?? null, to: to ?? null, ids: ids?.length ?? null },
    },
    check: () => Promise.resolve(),
    effect: () => effect(request),
  });
  return { count, pagination: services.paginator.pageUpTo(list, [], next && [next.fromSeq, next.endSeq]).pagination };
}

function readFilter({ rule, ids, ...times }: Omit<Chosen, 'cursor'>): QuarantineFilter {
  if (rule !== undefined && !isId(rule)) throw badRequest('rule must be the id of a rule');
  const { fromMs, toMs } = readTimeRange(times);
  return { rule, fromMs, toMs, seqs: ids === undefined ? undefined : new Set(ids.map(Number)) };
}

function rangeOf(after: readonly unknown[] | undefined) {
  const [fromSeq, endSeq] = after ?? [];
  return fromSeq === undefined ? undefined : { fromSeq: Number(fromSeq), endSeq: Number(endSeq) };
}

function view({ seq, quarantinedAtMs, rules, line }: QuarantinedEvent): Static<typeof entry> {
  const { id, source, at, kind, body, release = 0 } = envelopeOf(line);
  return {
    id: String(seq),
    eventId: id,
    event: kind === 'identify' ? '$identify' : String(body.event),
    sourceId: source,
    receivedAt: new Date(at).toISOString(),
    quarantinedAt: new Date(quarantinedAtMs).toISOString(),
    rules: [...rules],
    releases: release,
  };
}
