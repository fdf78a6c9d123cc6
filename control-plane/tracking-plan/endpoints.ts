import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import {
  planSeverities,
  readPlanSettings,
  unknownEventsSetting,
  unknownPropertiesSetting,
} from '../../shared/contracts/config/plan-settings.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { Account } from '../../shared/postgres/entities.ts';
import { badRequest } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { readTime } from '../api/time-range.ts';
import { eventPosition } from '../events/event-view.ts';
import { listRecentEvents } from '../events/recent-events.ts';
import { liveContent, resolveSnapshot } from '../versions/version-store.ts';
import { personalDataEndpoints } from './personal-data-endpoints.ts';
import { planParts, readViolations } from './read-violations.ts';
import type { PlanPart, ViolationGroup } from './read-violations.ts';
import { compileTrial, emptyTrial, isSpent, tryPlan } from './try-plan.ts';

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));
const instant = Type.String({ format: 'date-time' });
const events = (description: string) => Type.Integer({ minimum: 0, description });

const rangeMs = { '24h': 86_400_000, '7d': 7 * 86_400_000 } as const;
const groupsMax = 1_000;
/** Number of recent events that are read at a time. */
const recordsAtOnce = 50;

const ruleId = Type.String({
  description:
    'Id of a rule or of an event of the plan, or a built-in rule: unknown-event, unknown-property, deprecated-event, too-costly.',
});
const planPart = {
  ruleName: nullable(Type.String({ description: 'Its name; null for a built-in rule or one that is gone.' })),
  ruleCollection: nullable(
    Type.Enum(['dataGovernanceRules', 'dataGovernanceEvents'], {
      description: 'Collection of the rule, or of the event of the plan; null for a built-in rule or one that is gone.',
    }),
  ),
};
const noPart = { ruleName: null, ruleCollection: null };
const sample = Type.String({
  description:
    'The field that breaks the rule and the shape of its value, such as `event_properties.ssn: 999-99-9999`. Never a value.',
});

const group = Type.Object({
  rule: ruleId,
  ...planPart,
  event: Type.String({
    description: 'Name of the event, cut to 200 characters; `_other` for events beyond 2,000 groups per hour.',
  }),
  sourceId: Type.String(),
  appVersion: Type.String({ description: 'app_version or version of the context; empty if there is none.' }),
  action: Type.String({ description: 'The last action of the rule.' }),
  severity: Type.Enum([...planSeverities]),
  count: Type.Integer({ minimum: 1 }),
  firstAt: instant,
  lastAt: instant,
  sample,
});

const listViolations = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/violations',
  scope: 'violation:list',
  id: 'listViolations',
  tag: 'Tracking plan',
  summary:
    'How often events broke rules of the tracking plan, by rule, event, source and version of the app, the most frequent first, ' +
    'with a sample that shows no value. Counted by the hour of receipt and kept for 8 days; test events do not count',
  query: Type.Object({
    range: Type.Optional(
      Type.Enum(['24h', '7d'], {
        default: '24h',
        description: 'Length of the range, which ends now; not together with from and to.',
      }),
    ),
    from: Type.Optional(
      Type.String({ format: 'date-time', description: 'From the hour of this time on. Needs `to`.' }),
    ),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'Up to this time. Needs `from`.' })),
    event: text('Only events with exactly this name.'),
    rule: text('Only this rule.'),
    sourceId: text('Only events of this source.'),
    severity: Type.Optional(Type.Enum([...planSeverities], { description: 'Only rules of this severity.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: groupsMax, default: 200, description: 'Maximum number of groups.' }),
    ),
  }),
  reply: Type.Object({
    from: instant,
    to: instant,
    total: events('Violations of all groups. An event that breaks two rules counts twice.'),
    groupCount: events('How many groups there are.'),
    entities: Type.Array(group),
  }),
  async handle({ query, principal }, { storage, pool, now }) {
    const { accountId } = principal;
    const { event, rule, sourceId, severity } = query;
    const { from, to } = timesOf(query, now());
    const filters = { from, to, event, rule, sourceId, severity };
    const [found, live] = await Promise.all([
      readViolations(pool, accountId, filters, query.limit ?? 200),
      liveContent(storage.fork(), accountId),
    ]);
    const parts = planParts(live);
    return {
      from: from.toISOString(),
      to: to.toISOString(),
      total: found.total,
      groupCount: found.groupCount,
      entities: found.groups.map((one) => viewGroup(one, parts)),
    };
  },
});

const tryTrackingPlan = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/tracking-plan/try',
  scope: 'event:list',
  id: 'tryTrackingPlan',
  // A client can write rules in the draft whose effect reveals a value.
  comparesPersonal: (_query, body) => !isJsonObject(body) || body['rules'] !== 'live',
  isCostly: true,
  tag: 'Tracking plan',
  summary:
    'Try the tracking plan of the draft on recent events: how many events it would have quarantined, dropped and changed, by ' +
    'rule, with samples that show no value. Nothing is stored or sent. The view has events as the live plan left them. Rules of the ' +
    'draft need `pii:read` if the account masks personal data',
  body: Type.Object(
    {
      rules: Type.Optional(Type.Enum(['draft', 'live'], { default: 'draft', description: 'Whose rules.' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000,
          default: 1_000,
          description: 'How many of the newest events to judge.',
        }),
      ),
      sourceId: text('Events of this source only.'),
      event: text('Events of exactly this name only.'),
      unknownEvents: Type.Optional(unknownEventsSetting),
      unknownProperties: Type.Optional(unknownPropertiesSetting),
    },
    { additionalProperties: false },
  ),
  bodyOptional: true,
  reply: Type.Object({
    rules: Type.Enum(['draft', 'live']),
    tried: events('Events that were judged.'),
    skipped: events(
      'Events that could not be judged: the view has them cut short, or the live plan quarantined or dropped them.',
    ),
    isComplete: Type.Boolean({
      description: 'False if judging took so long that the trial ended before all events were judged.',
    }),
    passed: events('Events that are processed unchanged.'),
    changed: events('Events that are processed with properties omitted or redacted.'),
    quarantined: events('Events that would be held.'),
    dropped: events('Events that would be dropped.'),
    byRule: Type.Array(
      Type.Object({
        rule: ruleId,
        ...planPart,
        action: Type.String(),
        severity: Type.Enum([...planSeverities]),
        events: events('Events that break it.'),
        samples: Type.Array(Type.Object({ eventId: Type.String(), event: Type.String(), sample }), {
          description: 'At most 5, of the newest events.',
        }),
      }),
      { description: 'Rules that were broken, the most frequent first.' },
    ),
    untriedRules: Type.Array(Type.String(), {
      description:
        'Rules about `visitor`, which cannot be tried: the view does not have the visitor properties that an event itself sent.',
    }),
  }),
  async handle({ body, principal }, { storage, pool }) {
    const { accountId } = principal;
    const rules = body.rules ?? 'draft';
    const em = storage.fork();
    const snapshot =
      rules === 'draft' ? await resolveSnapshot(em, accountId, 'draft') : await liveContent(em, accountId);
    const { planSettings } = await storage.fork().findOneOrFail(Account, { id: accountId });
    const { unknownEvents, unknownProperties } = body;
    const settings = {
      ...readPlanSettings(planSettings),
      ...(unknownEvents && { unknownEvents }),
      ...(unknownProperties && { unknownProperties }),
    };
    const { plan, untried } = compileTrial(accountId, snapshot, settings);
    const trial = emptyTrial();
    const { sourceId, event, limit = 1_000 } = body;
    const filters = { ...anyEvent, sourceId, name: event };
    let after: ReturnType<typeof eventPosition> | undefined;
    let left = limit;
    while (left > 0 && !isSpent(trial)) {
      const page = { limit: Math.min(left, recordsAtOnce), after };
      const records = await listRecentEvents(pool, accountId, filters, page);
      await tryPlan(plan, accountId, records, trial);
      left -= records.length;
      const last = records.at(-1);
      if (last === undefined || records.length < page.limit) break;
      after = eventPosition(last);
    }
    const parts = planParts(snapshot);
    const { byRule, units: _units, ...counts } = trial;
    return {
      rules,
      ...counts,
      isComplete: !isSpent(trial),
      byRule: [...byRule.values()]
        .toSorted((a, b) => b.events - a.events)
        .map((one) => ({ ...one, ...(parts.get(one.rule) ?? noPart) })),
      untriedRules: [...untried],
    };
  },
});

const anyEvent = {
  visitorIds: undefined,
  test: undefined,
  plan: undefined,
  outcome: undefined,
  destinationId: undefined,
};

/** Endpoints for the violations of a tracking plan, for trials of a plan, and for properties that look personal. */
export const trackingPlanEndpoints = [listViolations, tryTrackingPlan, ...personalDataEndpoints];

type Times = {
  readonly range?: keyof typeof rangeMs | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

function timesOf({ range, from, to }: Times, now: Date): { readonly from: Date; readonly to: Date } {
  if (from === undefined && to === undefined) {
    return { from: new Date(now.getTime() - rangeMs[range ?? '24h']), to: now };
  }
  if (from === undefined || to === undefined)
    throw badRequest(`${from === undefined ? 'from' : 'to'} is required: from and to must be given together`);
  if (range !== undefined) throw badRequest('range must be left out if from and to are given');
  const [fromMs, toMs] = [readTime('from', from), readTime('to', to)];
  if (fromMs >= toMs) throw badRequest('from must be before to');
  return { from: new Date(fromMs), to: new Date(toMs) };
}

function viewGroup({ firstAt, lastAt, ...one }: ViolationGroup, parts: ReadonlyMap<string, PlanPart>) {
  return {
    ...one,
    ...(parts.get(one.rule) ?? noPart),
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
  };
}
