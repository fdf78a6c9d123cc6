import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { SeenProperty } from './privacy-report.ts';

/** Properties that look personal and that were not dismissed. */
export async function readPersonalKinds(db: Queryable, accountId: string): Promise<readonly SeenProperty[]> {
  const { rows } = await db.query<SeenProperty>(
    `select event, property, kind from personal_data where account_id = $1 and dismissed_at is null
      order by event, property limit 2000`,
    [accountId],
  );
  return rows;
}
