import type { Pool } from 'pg';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { jsonLines, jsonbOfLines } from '../../../shared/postgres/json-lines.ts';
import { failureFields } from '../worker/isolate-refused.ts';
import { startFigureWriter } from './figure-writer.ts';
import type { FigureWriter } from './figure-writer.ts';
import type { PersonalFinding } from './personal-data.ts';
import type { ResolverContext } from './resolver-context.ts';

/** The database table of properties that look personal. */
export type PersonalDataStore = { write(findings: readonly PersonalFinding[]): Promise<void> };

/** Maximum number of findings of an account; further ones are not stored. */
export const accountFindingsMax = 2_000;
const writeEveryMs = 5_000;
const rowsPerStatement = 500;

export function createPersonalDataStore(pool: Pool): PersonalDataStore {
  return {
    async write(findings) {
      for (let start = 0; start < findings.length; start += rowsPerStatement) {
        const lines = jsonLines(findings.slice(start, start + rowsPerStatement).map(jsonOf));
        const query = { name: 'write-personal-data', text: statement, values: [lines] };
        await inTransaction(pool, (client) => client.query(query), { isFlushed: false });
      }
    },
  };
}

/** Writes a resolver's findings every five seconds; findings whose write fails are lost. */
export function startPersonalDataWriter(
  { personalData, counts, logger }: Pick<ResolverContext, 'personalData' | 'counts' | 'logger'>,
  store: PersonalDataStore,
): FigureWriter {
  const write = async (): Promise<void> => {
    const found = personalData.take();
    counts.personal_data_skipped = personalData.skipped;
    if (found.length === 0) return;
    try {
      await store.write(found);
    } catch (error) {
      counts.personal_data_write_failures += 1;
      logger.warn(failureFields(error), 'writing properties that look personal failed');
    }
  };
  return startFigureWriter({ everyMs: writeEveryMs, write });
}

function jsonOf({ firstAtMs, lastAtMs, ...row }: PersonalFinding): string {
  const [firstAt, lastAt] = [firstAtMs, lastAtMs].map((ms) => new Date(ms).toISOString());
  return JSON.stringify({ ...row, firstAt, lastAt });
}

// Rows are written in the order of the key, so that two writers never deadlock. The counts of a known finding are
// increased; new findings are stored up to the account's limit.
const statement = `
  with given as (
    select (j->>'accountId')::uuid as account_id, j->>'event' as event, j->>'property' as property, j->>'kind' as kind,
      j->>'basis' as basis, (j->>'seen')::bigint as seen, (j->>'matched')::bigint as matched,
      (j->>'firstAt')::timestamptz as first_at, (j->>'lastAt')::timestamptz as last_at, j->>'shape' as shape
    from unnest(${jsonbOfLines('$1')}) as j
  ), ranked as (
    select g.*, p.property is null as is_new,
      (select count(*) from personal_data o where o.account_id = g.account_id)
        + count(*) filter (where p.property is null) over (partition by g.account_id order by g.event, g.property) as place
    from given g left join personal_data p using (account_id, event, property)
  )
  insert into personal_data as p
    (account_id, event, property, kind, basis, seen, matched, first_at, last_at, shape)
  select account_id, event, property, kind, basis, seen, matched, first_at, last_at, shape
  from ranked where not is_new or place <= ${accountFindingsMax}
  order by account_id, event, property
  on conflict (account_id, event, property) do update
  set kind = excluded.kind, basis = excluded.basis, seen = p.seen + excluded.seen, matched = p.matched + excluded.matched,
    first_at = least(p.first_at, excluded.first_at), last_at = greatest(p.last_at, excluded.last_at), shape = excluded.shape`;
