import type { Snapshot } from '../../shared/collections/registry.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** Violations with the same rule, event, source and app version, within a range of time. */
export type ViolationGroup = {
  readonly rule: string;
  readonly event: string;
  readonly sourceId: string;
  readonly appVersion: string;
  readonly action: string;
  readonly severity: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly sample: string;
};

export type ViolationFilters = {
  readonly from: Date;
  readonly to: Date;
  readonly event: string | undefined;
  readonly rule: string | undefined;
  readonly sourceId: string | undefined;
  readonly severity: string | undefined;
};

export type Violations = {
  readonly groups: readonly ViolationGroup[];
  readonly total: number;
  readonly groupCount: number;
};

/** The largest groups of violations, up to `limit`, and how many violations and groups there are. */
export async function readViolations(
  db: Queryable,
  accountId: string,
  { from, to, event, rule, sourceId, severity }: ViolationFilters,
  limit: number,
): Promise<Violations> {
  const { rows } = await db.query<Omit<ViolationGroup, 'count'> & { count: string; total: string; groupCount: string }>(
    `select rule, event, source_id as "sourceId", app_version as "appVersion",
       (array_agg(action order by last_at desc))[1] as action, (array_agg(severity order by last_at desc))[1] as severity,
       sum(count) as count, min(first_at) as "firstAt", max(last_at) as "lastAt",
       (array_agg(sample order by last_at desc))[1] as sample,
       sum(sum(count)) over () as total, count(*) over () as "groupCount"
     from violations
     where account_id = $1 and hour >= date_trunc('hour', $2::timestamptz) and hour < $3
       and ($4::text is null or event = $4) and ($5::text is null or rule = $5)
       and ($6::text is null or source_id = $6) and ($7::text is null or severity = $7)
     group by rule, event, source_id, app_version
     order by sum(count) desc, rule, event, source_id, app_version limit $8`,
    [accountId, from, to, event ?? null, rule ?? null, sourceId ?? null, severity ?? null, limit],
  );
  return {
    groups: rows.map(({ total: _total, groupCount: _groups, ...row }) => ({ ...row, count: Number(row.count) })),
    total: Number(rows[0]?.total ?? 0),
    groupCount: Number(rows[0]?.groupCount ?? 0),
  };
}

const hourMs = 3_600_000;
const loudMax = 10;

/**
 * Rules of severity Error or Warning that were broken in this hour or the previous hour: errors first, then by
 * frequency.
 */
export async function readLoudViolations(db: Queryable, accountId: string, now: Date) {
  const since = new Date((Math.floor(now.getTime() / hourMs) - 1) * hourMs);
  const { rows } = await db.query<{ rule: string; severity: string; count: string }>(
    `select rule, severity, sum(count) as count from violations
     where account_id = $1 and hour >= $2 and severity in ('Warning', 'Error')
     group by rule, severity order by severity, sum(count) desc limit $3`,
    [accountId, since, loudMax],
  );
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

const planCollections = ['dataGovernanceRules', 'dataGovernanceEvents'] as const;

/** What an event can break: a rule, or an event of the plan. */
export type PlanPart = { readonly ruleName: string; readonly ruleCollection: (typeof planCollections)[number] };

/** The rules and the events of a tracking plan, by their ids. */
export function planParts(snapshot: Snapshot): ReadonlyMap<string, PlanPart> {
  const parts = new Map<string, PlanPart>();
  for (const ruleCollection of planCollections) {
    for (const entity of snapshot[ruleCollection]) {
      parts.set(entity.id, { ruleName: textOf(entity['name']), ruleCollection });
    }
  }
  return parts;
}
