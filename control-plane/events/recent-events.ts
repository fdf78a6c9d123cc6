import type { PurposeAnswer } from '../../shared/routing/consent/purpose-answer.ts';
import type { Exchange, PlatformError } from '../../shared/contracts/events/exchange.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { Position } from '../api/pagination.ts';

/** The outcome of an event at one destination. */
export type OutcomeRecord = {
  readonly destinationId: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly attempts: number;
  readonly versionNumber: number | null;
  readonly consent: readonly PurposeAnswer[] | null;
  readonly at: string;
  readonly error: PlatformError | null;
};

/** The decision of a tracking plan about an event, and the rules that it broke. */
export type PlanRecord = {
  readonly outcome: 'reported' | 'changed' | 'quarantined' | 'dropped';
  readonly rules: readonly { readonly rule: string; readonly action: string; readonly property?: string }[];
};

/** Whether the tracking plan quarantined or dropped the event: the view then has neither its content nor a visitor. */
export const endedAtPlan = ({ visitorId }: Pick<RecentEventRecord, 'visitorId'>): boolean => visitorId === '';

/** An event of the recent-events view with its outcomes. */
export type RecentEventRecord = {
  readonly id: string;
  readonly time: Date;
  readonly receivedAt: Date;
  readonly sourceId: string;
  readonly name: string;
  readonly visitorId: string;
  readonly test: boolean;
  readonly versionNumber: number | null;
  readonly sampleOf: number;
  /** Distinguishes the event from others with the same id. */
  readonly origin: number;
  readonly body: JsonObject;
  /**
   * The tracking plan's decision. Null if the event broke no rule, or if it is not a test event and broke only rules
   * that report.
   */
  readonly plan: PlanRecord | null;
  readonly outcomes: readonly OutcomeRecord[];
};

export type RecentEventFilters = {
  readonly sourceId?: string | undefined;
  readonly name?: string | undefined;
  /** Text that the name contains, ignoring case. */
  readonly nameContains?: string | undefined;
  /** Range in which the events happened: `from` is inclusive, `to` is exclusive. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Events with this property; with any value if `value` is undefined. */
  readonly property?: { readonly path: readonly string[]; readonly value: string | undefined } | undefined;
  /** Ids that all lead to the same visitor. */
  readonly visitorIds?: readonly string[] | undefined;
  readonly test?: boolean | undefined;
  /** Only events with this decision of the tracking plan. */
  readonly plan?: string | undefined;
  /** Only events with this outcome at some destination, or at `destinationId`. */
  readonly outcome?: string | undefined;
  /** Only events that reached the rules of this destination. */
  readonly destinationId?: string | undefined;
};

/** Minimum of PostgreSQL's integer. */
const originMin = -(2 ** 31);

/** Up to `limit` events of an account after a position, by the time at which they happened, newest first. */
export async function listRecentEvents(
  db: Queryable,
  accountId: string,
  filters: RecentEventFilters,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<RecentEventRecord[]> {
  const values: unknown[] = [accountId, page.limit];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filters, place);
  if (page.after !== undefined) {
    // Cursors of earlier builds have no `origin`.
    const [timeMs, id, origin = originMin] = page.after;
    const after = [place(new Date(Number(timeMs))), place(String(id)), place(Number(origin))];
    conditions.push(`(e.time, e.id, e.origin) < (${after.join(', ')})`);
  }
  const { rows } = await db.query<RecentEventRecord>(
    `with page as materialized (
      select * from recent_events e where ${['e.account_id = $1', ...conditions].join(' and ')} order by e.time desc, e.id desc, e.origin desc limit $2
    )
    select ${columns} from page e order by e.time desc, e.id desc, e.origin desc`,
    values,
  );
  return rows;
}

/** SQL conditions on `recent_events e`; `place` adds a parameter and names it. */
function conditionsOf(filters: RecentEventFilters, place: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  if (filters.sourceId !== undefined) conditions.push(`e.source_id = ${place(filters.sourceId)}`);
  if (filters.name !== undefined) conditions.push(`e.name = ${place(filters.name)}`);
  if (filters.nameContains !== undefined) {
    conditions.push(`strpos(lower(e.name), lower(${place(filters.nameContains)})) > 0`);
  }
  if (filters.from !== undefined) conditions.push(`e.time >= ${place(filters.from)}`);
  if (filters.to !== undefined) conditions.push(`e.time < ${place(filters.to)}`);
  if (filters.property !== undefined) {
    const { path, value } = filters.property;
    const found = `e.body #>> ${place(['event_properties', ...path])}::text[]`;
    conditions.push(value === undefined ? `${found} is not null` : `${found} = ${place(value)}`);
  }
  if (filters.visitorIds !== undefined) conditions.push(`e.visitor_id = any(${place(filters.visitorIds)}::text[])`);
  if (filters.test !== undefined) conditions.push(`e.test = ${place(filters.test)}`);
  if (filters.plan !== undefined) conditions.push(`e.plan->>'outcome' = ${place(filters.plan)}`);
  if (filters.outcome !== undefined || filters.destinationId !== undefined) {
    const wanted = ['o.event_id = e.id', 'o.origin = e.origin'];
    if (filters.outcome !== undefined) wanted.push(`o.outcome = ${place(filters.outcome)}`);
    if (filters.destinationId !== undefined) wanted.push(`o.destination_id = ${place(filters.destinationId)}`);
    conditions.push(
      `exists (select 1 from event_outcomes o where o.account_id = e.account_id and ${wanted.join(' and ')})`,
    );
  }
  return conditions;
}

export type EventSummary = {
  /** Events in the view, and the number of events that they represent. */
  readonly kept: number;
  readonly events: number;
  /** Number of events, including represented ones, by outcome at the chosen destination, or at all destinations. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** When the oldest event of the account in the view was received. */
  readonly since: Date | undefined;
};

/**
 * Counts the events that filters select, and their outcomes. The work is limited, because the view limits the number of
 * events of an account.
 */
export async function summarizeEvents(
  db: Queryable,
  accountId: string,
  filters: RecentEventFilters,
): Promise<EventSummary> {
  const values: unknown[] = [accountId];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filters, place);
  const ofDestination =
    filters.destinationId === undefined ? '' : `and o.destination_id = ${place(filters.destinationId)}`;
  const { rows } = await db.query<{
    kept: string;
    events: string;
    outcomes: Record<string, number> | null;
    since: Date | null;
  }>(
    `with matched as materialized (
      select e.id, e.origin, e.sample_of from recent_events e where ${['e.account_id = $1', ...conditions].join(' and ')}
    ), by_outcome as (
      select o.outcome, sum(m.sample_of) as events from matched m
      join event_outcomes o on o.account_id = $1 and o.event_id = m.id and o.origin = m.origin ${ofDestination}
      group by o.outcome
    )
    select (select count(*) from matched) as kept, (select coalesce(sum(sample_of), 0) from matched) as events,
      (select jsonb_object_agg(outcome, events) from by_outcome) as outcomes,
      (select min(received_at) from recent_events where account_id = $1) as since`,
    values,
  );
  const [row] = rows;
  return {
    kept: Number(row?.kept ?? 0),
    events: Number(row?.events ?? 0),
    outcomes: row?.outcomes ?? {},
    since: row?.since ?? undefined,
  };
}

/** Up to `limit` events of an account that were received at `sinceMs` or later, the newest first. */
export async function listNewestReceived(
  db: Queryable,
  accountId: string,
  { sinceMs, limit }: { readonly sinceMs: number; readonly limit: number },
): Promise<RecentEventRecord[]> {
  const { rows } = await db.query<RecentEventRecord>(
    `with page as materialized (
      select * from recent_events e where e.account_id = $1 and e.received_at >= $2
      order by e.received_at desc, e.id desc limit $3
    )
    select ${columns} from page e order by e.received_at desc, e.id desc`,
    [accountId, new Date(sinceMs), limit],
  );
  return rows;
}

/** Up to `limit` of an account's newest events that were sent with a live key, without their outcomes. */
export async function listForRules(
  db: Queryable,
  accountId: string,
  { sinceMs, limit, name }: { readonly sinceMs: number; readonly limit: number; readonly name?: string | undefined },
): Promise<RecentEventRecord[]> {
  const { rows } = await db.query<RecentEventRecord>(
    `select ${ownColumns}, '[]'::jsonb as outcomes from recent_events e
     where e.account_id = $1 and e.received_at >= $2 and not e.test and e.visitor_id <> '' and ($4::text is null or e.name = $4)
     order by e.received_at desc, e.id desc limit $3`,
    [accountId, new Date(sinceMs), limit, name ?? null],
  );
  return rows;
}

/**
 * The newest event of the view with this id. Undefined if the view does not have such an event, or no longer has it.
 */
export async function findRecentEvent(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<RecentEventRecord | undefined> {
  const { rows } = await db.query<RecentEventRecord>(
    `select ${columns} from recent_events e where e.account_id = $1 and e.id = $2
      order by e.received_at desc limit 1`,
    [accountId, id],
  );
  return rows[0];
}

/** The failed requests of an event with their answers, by destination. */
export async function findExchanges(
  db: Queryable,
  accountId: string,
  { id, origin }: Pick<RecentEventRecord, 'id' | 'origin'>,
): Promise<ReadonlyMap<string, Exchange>> {
  const { rows } = await db.query<{ destinationId: string; exchange: Exchange }>(
    `select destination_id as "destinationId", exchange from event_outcomes
      where account_id = $1 and event_id = $2 and origin = $3 and exchange is not null
        and outcome in ('retrying', 'rejected')`,
    [accountId, id, origin],
  );
  return new Map(rows.map(({ destinationId, exchange }) => [destinationId, exchange]));
}

/** How many events of a visitor are in the view, under any of its ids. */
export async function countRecentEvents(
  db: Queryable,
  accountId: string,
  visitorIds: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    'select count(*) as count from recent_events where account_id = $1 and visitor_id = any($2::text[])',
    [accountId, visitorIds],
  );
  return Number(rows[0]?.count ?? 0);
}

const outcomes = `coalesce((
  select jsonb_agg(jsonb_build_object('destinationId', o.destination_id, 'outcome', o.outcome, 'reason', o.reason,
    'attempts', o.attempts, 'versionNumber', o.version_number, 'consent', o.consent, 'at', o.at,
    'error', case when o.outcome in ('retrying', 'rejected') then o.answer end) order by o.destination_id)
  from event_outcomes o where o.account_id = e.account_id and o.event_id = e.id and o.origin = e.origin), '[]')`;

const ownColumns = `e.id, e.time, e.received_at as "receivedAt", e.source_id as "sourceId", e.name, e.visitor_id as "visitorId",
  e.test, e.version_number as "versionNumber", e.sample_of as "sampleOf", e.origin, e.body, e.plan`;

const columns = `${ownColumns}, ${outcomes} as outcomes`;
