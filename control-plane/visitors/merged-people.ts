import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** A visitor with more than one externalId: two or more known people were merged, or an alias joined the ids. */
export type MergedPerson = {
  readonly id: string;
  /** The oldest first. */
  readonly externalIds: readonly string[];
  readonly createdAtMs: number;
};

export type MergedPeople = {
  readonly people: readonly MergedPerson[];
  /** Whether the account has more merged visitors than are listed. */
  readonly isCutShort: boolean;
};

export type ListMergedOptions = {
  readonly peopleMax: number;
  /** Number of identities per read, so that no statement takes long, even if the account has many visitors. */
  readonly rowsPerRead?: number;
};

type IdentityRow = { readonly visitor_id: string; readonly value: string; readonly is_alias: boolean };

/**
 * Reads the visitors of an account that have more than one externalId, including visitors merged by an earlier version.
 */
export async function listMergedPeople(
  db: Queryable,
  accountId: string,
  { peopleMax, rowsPerRead = 5_000 }: ListMergedOptions,
): Promise<MergedPeople> {
  const people = new Map<string, MergedPerson>();
  let last: IdentityRow | undefined;
  for (;;) {
    const { rows }: { rows: IdentityRow[] } = await db.query<IdentityRow>(
      `select i.visitor_id, i.value, v.merged_into is not null as is_alias
        from visitor_identities i
        join visitors v on v.account_id = i.account_id and v.id = i.visitor_id
        where i.account_id = $1 and i.kind = 'external_id'
          and i.visitor_id >= $2 and (i.visitor_id, i.value) > ($2, $3)
        order by i.visitor_id, i.value limit $4`,
      [accountId, last?.visitor_id ?? '', last?.value ?? '', rowsPerRead],
    );
    for (const row of rows) {
      // An identity may still belong to a visitor that was merged into another: the other usually has a second
      // externalId.
      const isOneOfSeveral = row.is_alias || row.visitor_id === last?.visitor_id;
      last = row;
      if (!isOneOfSeveral || people.has(row.visitor_id)) continue;
      const found = await findVisitor(db, accountId, { id: row.visitor_id });
      if (found === undefined || found.externalIds.length < 2 || people.has(found.id)) continue;
      if (people.size === peopleMax) return { people: [...people.values()], isCutShort: true };
      people.set(found.id, { id: found.id, externalIds: found.externalIds, createdAtMs: found.createdAtMs });
    }
    if (rows.length < rowsPerRead) return { people: [...people.values()], isCutShort: false };
  }
}

/** One person a line: visitor id, creation time, externalIds. */
export function showMergedPeople({ people, isCutShort }: MergedPeople): string {
  if (people.length === 0) return 'No visitor of the account has more than one externalId.';
  const lines = people.map(({ id, externalIds, createdAtMs }) =>
    [id, new Date(createdAtMs).toISOString(), ...externalIds].join('\t'),
  );
  const count = people.length === 1 ? '1 visitor has' : `${people.length} visitors have`;
  const more = isCutShort ? '; the account has more, see --limit' : '';
  return [...lines, `${count} more than one externalId${more}.`].join('\n');
}
