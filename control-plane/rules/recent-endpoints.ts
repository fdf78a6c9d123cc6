import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { logicSchema } from '../../shared/routing/predicate/logic-schema.ts';
import { checkLogic, compilePredicate } from '../../shared/routing/predicate/predicate.ts';
import type { Predicate } from '../../shared/routing/predicate/predicate.ts';
import type { Subject } from '../../shared/routing/values/property-path.ts';
import { eventWorkMax, OverBudgetError, Work } from '../../shared/routing/values/work.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { refuseProblems } from '../draft/check-together.ts';
import { compileWays, resolvedOf, wayMembers, wayReply } from '../events/decide-ways.ts';
import { listForRules } from '../events/recent-events.ts';
import type { RecentEventRecord } from '../events/recent-events.ts';
import { createTurns } from '../events/turns.ts';
import { compareSnapshots } from '../versions/version-store.ts';
import { affectedDestinations, createImpact } from './compare-ways.ts';
import { findEventPaths } from './event-paths.ts';

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const instant = Type.String({ format: 'date-time' });
const dayMs = 86_400_000;

/** Maximum number of events that are checked. */
const lookedAtMax = { paths: 500, matches: 2_000 } as const;
/** Maximum number of matching events in the answer, for a trial of one of them. */
const namedMax = 50;
const comparedMax = { default: 200, most: 500 } as const;
/** A search or comparison ends after this time, with the events checked so far. */
const checkedWithinMs = 5_000;

const { decision, why, eventName, sentName, request } = wayReply.properties;
const shownWay = nullable(Type.Object({ decision, why, eventName, sentName, request }));

/** Whether a rule's logic uses more of an event than its name, id, source and time. Pure. */
function namesValues(logic: unknown): boolean {
  if (Array.isArray(logic)) return logic.some(namesValues);
  if (!isJsonObject(logic)) return false;
  const { property } = logic;
  if (typeof property === 'string') return !/^\s*\$?event\.(event|id|time|source_id)\s*$/.test(property);
  return Object.values(logic).some(namesValues);
}

/** An event whose rules cost too much never reaches a destination, so it does not match. */
function isMatch(matches: Predicate, subject: Subject): boolean {
  try {
    return matches(subject);
  } catch (error) {
    if (error instanceof OverBudgetError) return false;
    throw error;
  }
}

/**
 * Endpoints that try rules on the account's recent events: values of paths, matches of a rule's logic, effects of a
 * publish.
 */
export const recentRuleEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/rules/paths',
    scope: 'event:list',
    id: 'listRulePaths',
    audits: { action: 'event.list' },
    personal: ['example'],
    tag: 'Rules',
    summary: `Paths that lead to values in the account's newest ${lookedAtMax.paths} events, the most frequent first, each with an example`,
    query: Type.Object({
      event: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'Only events of this name.' })),
    }),
    reply: Type.Object({
      events: { ...count, description: 'How many events were checked.' },
      paths: Type.Array(
        Type.Object({
          path: { ...text, description: 'The first item of a list stands for all items: items.0.price.' },
          events: { ...count, description: 'How many of these events have a value at the path.' },
          example: text,
        }),
      ),
    }),
    async handle({ query, principal }, { pool }) {
      const wanted = { sinceMs: 0, limit: lookedAtMax.paths, name: query.event };
      const records = await listForRules(pool, principal.accountId, wanted);
      return { events: records.length, paths: findEventPaths(records) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/rules/matches',
    scope: 'event:list',
    id: 'matchRecentEvents',
    audits: { action: 'event.list' },
    // A count reveals whether a visitor has a value.
    comparesPersonal: (_query, body) => isJsonObject(body) && namesValues(body['logic']),
    isCostly: true,
    tag: 'Rules',
    summary:
      `How many events of the last day a logic matches, among the newest ${lookedAtMax.matches} that are kept; nothing is stored. ` +
      'If the account masks personal data, conditions on values need `pii:read`',
    body: Type.Object({ logic: nullable(logicSchema) }, { additionalProperties: false }),
    reply: Type.Object({
      matched: {
        ...count,
        description: 'How many events match. In a sample: how many events the matching ones represent.',
      },
      examined: { ...count, description: 'How many events were checked, counted in the same way.' },
      isSample: Type.Boolean({ description: 'Whether the view kept only a sample of these events.' }),
      isComplete: Type.Boolean({
        description: `Whether all stored events of the last day were checked. The check ends after ${checkedWithinMs / 1_000} seconds.`,
      }),
      since: nullable({ ...instant, description: 'When the oldest of these events was received.' }),
      events: Type.Array(Type.Object({ id: text, event: text, time: instant }), {
        description: `Matching events, the newest first, at most ${namedMax}.`,
      }),
    }),
    async handle({ body: { logic }, principal }, { pool, now }) {
      if (logic !== null) refuseProblems(checkLogic(logic));
      const matches = logic === null ? () => true : compilePredicate(logic);
      const limit = lookedAtMax.matches;
      const wanted = { sinceMs: now().getTime() - dayMs, limit: limit + 1 };
      const kept = await listForRules(pool, principal.accountId, wanted);
      const records: RecentEventRecord[] = [];
      const matching: RecentEventRecord[] = [];
      const begunMs = performance.now();
      const takeTurn = createTurns();
      for (const record of kept.slice(0, limit)) {
        if (performance.now() - begunMs > checkedWithinMs) break;
        records.push(record);
        const subject = { ...resolvedOf(principal.accountId, record), work: new Work(eventWorkMax) };
        if (isMatch(matches, subject)) matching.push(record);
        await takeTurn();
      }
      const standFor = (some: typeof records): number => some.reduce((sum, { sampleOf }) => sum + sampleOf, 0);
      return {
        matched: standFor(matching),
        examined: standFor(records),
        isSample: records.some(({ sampleOf }) => sampleOf > 1),
        isComplete: records.length === kept.length,
        since: records.at(-1)?.receivedAt.toISOString() ?? null,
        events: matching
          .slice(0, namedMax)
          .map(({ id, name, time }) => ({ id, event: name, time: time.toISOString() })),
      };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/versions/{id}/impact',
    scope: 'version:find',
    queryScope: ({ samples }) => (String(samples) === 'true' ? 'event:list' : undefined),
    id: 'getVersionImpact',
    audits: { action: 'event.list' },
    personal: wayMembers,
    // A client can write rules in a draft or a version whose effect reveals a value.
    comparesPersonal: () => true,
    isCostly: true,
    tag: 'Versions',
    summary:
      "How the requests for the account's newest events differ between a version, or the draft, and another version, by " +
      'default the live one. Rules apply as in dispatchers, nothing is sent, secrets are masked. Needs `pii:read` ' +
      'if the account masks personal data',
    query: Type.Object({
      against: Type.Optional(Type.String({ format: 'uuid', description: 'The version to compare with.' })),
      samples: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether to include examples of such events. Needs `event:list` too.',
        }),
      ),
      events: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: comparedMax.most,
          default: comparedMax.default,
          description: 'Maximum number of events to try.',
        }),
      ),
    }),
    reply: Type.Object({
      examined: { ...count, description: 'Events that were tried.' },
      isSample: Type.Boolean({ description: 'Whether the view kept only a sample of these events.' }),
      isComplete: Type.Boolean({
        description: `False if the comparison took longer than ${checkedWithinMs / 1_000} seconds.`,
      }),
      since: nullable({ ...instant, description: 'When the oldest of these events was received.' }),
      destinations: Type.Array(
        Type.Object({
          destinationId: text,
          name: text,
          type: text,
          changed: { ...count, description: 'Events whose request would change.' },
          added: { ...count, description: 'Events that are not sent now and would be sent.' },
          removed: { ...count, description: 'Events that are sent now and would not be sent.' },
          samples: Type.Array(
            Type.Object({
              eventId: text,
              event: text,
              time: instant,
              change: Type.Enum(['added', 'removed', 'changed']),
              before: shownWay,
              after: shownWay,
            }),
            { description: 'At most 3, of different event names; none without `samples`.' },
          ),
        }),
        { description: 'Destinations with any change.' },
      ),
    }),
    async handle({ params, query, principal }, { storage, pool, secretBox, now }) {
      const { accountId } = principal;
      const compared = { id: params.id, against: query.against };
      const { baseline, target } = await compareSnapshots(storage.fork(), accountId, compared);
      const destinationIds = affectedDestinations(baseline, target);
      const records = await listForRules(pool, accountId, { sinceMs: 0, limit: query.events ?? comparedMax.default });
      const asked = { accountId, destinationIds, withRequests: true, secretBox, nowMs: now().getTime() };
      const before = compileWays({ ...asked, snapshot: baseline });
      const after = compileWays({ ...asked, snapshot: target });
      const impact = createImpact(baseline, target);
      const begunMs = performance.now();
      let examined = 0;
      for (const record of records) {
        if (performance.now() - begunMs > checkedWithinMs) break;
        impact.add(record, await before(record), await after(record));
        examined += 1;
      }
      return {
        examined,
        isSample: records.some(({ sampleOf }) => sampleOf > 1),
        isComplete: examined === records.length,
        since: records[Math.max(0, examined - 1)]?.receivedAt.toISOString() ?? null,
        destinations: impact.read(query.samples === true),
      };
    },
  }),
];
