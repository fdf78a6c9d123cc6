import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { viewPlatformError } from '../destinations/exchange-view.ts';
import { compileWays } from '../events/decide-ways.ts';
import type { RulesAsked } from '../events/decide-ways.ts';
import type { OutcomeRecord, RecentEventRecord } from '../events/recent-events.ts';
import type { FoundEvent, LogOutcome } from './search-log.ts';

type Asked = Omit<RulesAsked, 'destinationIds' | 'withRequests'> & {
  /** Whether the destination skipped events that were stored around this time, in ms since the epoch. */
  skippedAt(destinationId: string, storedAtMs: number): boolean;
};

/**
 * The events found, with the outcome at each destination: from a retry or dead letter in the log, else as recorded,
 * else from the live rules.
 */
export async function viewFound(db: Queryable, asked: Asked, found: readonly FoundEvent[]): Promise<JsonObject[]> {
  const recorded = await recordedOutcomes(db, asked.accountId, found);
  const enabledIn = await enabledDestinations(db, asked.accountId, found);
  const decide = compileWays({ ...asked, destinationIds: undefined, withRequests: false });
  const views: JsonObject[] = [];
  for (const one of found) {
    const known = recorded.get(keyOf(one)) ?? [];
    const ways = await decide(recordOf(one));
    const { event, visitor } = one.event;
    views.push({
      id: event.id,
      event: event.event,
      time: event.time,
      receivedAt: new Date(event.received_at).toISOString(),
      sourceId: event.source_id,
      visitorId: visitor.id,
      test: event.test,
      eventProperties: event.event_properties,
      destinations: event.test
        ? []
        : ways.map((way) => viewDestination(way, known, one, { enabledIn, skippedAt: asked.skippedAt })),
    });
  }
  return views;
}

const keyOf = ({ event: { event, visitor } }: FoundEvent): string =>
  JSON.stringify([event.id, event.source_id, visitor.id]);

function viewDestination(
  way: JsonObject,
  known: readonly OutcomeRecord[],
  { at, storedAtMs, event: { event } }: FoundEvent,
  { enabledIn, skippedAt }: Pick<Asked, 'skippedAt'> & { readonly enabledIn: EnabledDestinations },
): JsonObject {
  const { destinationId, name, decision, why } = way;
  const version = event.version_number;
  const isEnabled = version === undefined || enabledIn.get(version)?.has(String(destinationId)) !== false;
  const own = known.find((one) => one.destinationId === destinationId);
  const seen = at.get(String(destinationId)) ?? { outcome: 'unknown' };
  return {
    destinationId,
    name,
    ...outcomeOf(own, seen, {
      decision,
      why,
      disabledIn: isEnabled ? undefined : version,
      isSkipped: skippedAt(String(destinationId), storedAtMs),
    }),
  };
}

const none = { reason: null, attempts: null, error: null, at: null } as const;
const skippedReason = "The destination skipped events of this time: see `missed` in the destination's health.";

type Decided = {
  readonly decision: unknown;
  readonly why: unknown;
  /** The version with which the event was received, if the destination was not enabled in it. */
  readonly disabledIn: number | undefined;
  readonly isSkipped: boolean;
};

function outcomeOf(
  own: OutcomeRecord | undefined,
  seen: LogOutcome,
  { decision, why, disabledIn, isSkipped }: Decided,
): JsonObject {
  if (seen.outcome === 'retrying' || seen.outcome === 'rejected') {
    const { outcome, reason, attempts, atMs, error } = seen;
    return {
      outcome,
      basis: 'log',
      reason,
      attempts,
      error: viewPlatformError(error),
      at: new Date(atMs).toISOString(),
    };
  }
  if (own !== undefined) {
    const { outcome, reason, attempts, error, at } = own;
    const instant = new Date(at).toISOString();
    return { outcome, basis: 'recorded', reason, attempts, error: viewPlatformError(error ?? undefined), at: instant };
  }
  if (seen.outcome === 'before') {
    const reason = `It is older than the destination, which was first published at ${new Date(seen.sinceMs).toISOString()}.`;
    return { ...none, outcome: 'notSent', basis: 'log', reason };
  }
  if (decision !== 'send') return { ...none, outcome: 'notSent', basis: 'rules', reason: why };
  if (seen.outcome === 'waiting') return { ...none, outcome: 'waiting', basis: 'log' };
  if (seen.outcome !== 'passed') return { ...none, outcome: 'unknown', basis: 'rules' };
  if (disabledIn === undefined && isSkipped)
    return { ...none, outcome: 'unknown', basis: 'rules', reason: skippedReason };
  if (disabledIn === undefined) return { ...none, outcome: 'delivered', basis: 'rules' };
  if (seen.isReplayed) return { ...none, outcome: 'unknown', basis: 'rules' };
  const reason = `The destination was not enabled in version ${disabledIn}, with which the event was received.`;
  return { ...none, outcome: 'notSent', basis: 'rules', reason };
}

/** The ids of the enabled destinations of each version. */
type EnabledDestinations = ReadonlyMap<number, ReadonlySet<string>>;

/** For the versions with which the events were received, as far as they exist. */
async function enabledDestinations(
  db: Queryable,
  accountId: string,
  found: readonly FoundEvent[],
): Promise<EnabledDestinations> {
  const numbers = found.flatMap(({ event }) => event.event.version_number ?? []);
  const { rows } = await db.query<{ version: number; ids: readonly string[] }>(
    `select version_number as version, array(
        select d->>'id' from jsonb_array_elements(content->'destinations') d where d->>'status' = 'Enabled') as ids
      from versions where account_id = $1 and version_number = any($2::int[])`,
    [accountId, [...new Set(numbers)]],
  );
  return new Map(rows.map(({ version, ids }) => [version, new Set(ids)]));
}

async function recordedOutcomes(
  db: Queryable,
  accountId: string,
  found: readonly FoundEvent[],
): Promise<ReadonlyMap<string, readonly OutcomeRecord[]>> {
  const { rows } = await db.query<{ key: string; outcomes: readonly OutcomeRecord[] }>(
    `select jsonb_build_array(e.id, e.source_id, e.visitor_id)::text as key, jsonb_agg(jsonb_build_object(
        'destinationId', o.destination_id, 'outcome', o.outcome, 'reason', o.reason, 'attempts', o.attempts, 'at', o.at,
        'error', case when o.outcome in ('retrying', 'rejected') then o.answer end)) as outcomes
      from recent_events e
      join event_outcomes o on o.account_id = e.account_id and o.event_id = e.id and o.origin = e.origin
      where e.account_id = $1 and e.id = any($2::text[]) group by e.id, e.source_id, e.visitor_id`,
    [accountId, found.map(({ event }) => event.event.id)],
  );
  return new Map(rows.map(({ key, outcomes }) => [JSON.stringify(JSON.parse(key)), outcomes]));
}

function recordOf({ event: { event, visitor } }: FoundEvent): RecentEventRecord {
  const { event_properties, context, integrations, consent } = event;
  const own = {
    ...(integrations === undefined ? {} : { integrations }),
    ...(consent === undefined ? {} : { consent }),
  };
  return {
    id: event.id,
    time: new Date(event.time),
    receivedAt: new Date(event.received_at),
    sourceId: event.source_id,
    name: event.event,
    visitorId: visitor.id,
    test: event.test,
    versionNumber: event.version_number ?? null,
    sampleOf: 1,
    origin: 0,
    body: { event_properties, context, visitor, ...own },
    plan: null,
    outcomes: [],
  };
}
