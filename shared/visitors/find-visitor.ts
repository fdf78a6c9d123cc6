import { rootOf } from './alias-chains.ts';
import { selectCluster } from './alias-statements.ts';
import type { Queryable } from './visitor-statements.ts';
import { selectIdentities, selectVisitors } from './visitor-statements.ts';
import type { StoredVisitor } from './visitor-rows.ts';
import { cleanEmail, cleanText, storedIdentity } from './visitor-identity.ts';
import type { IdentityKind } from './visitor-identity.ts';
import type { FoundVisitor, VisitorKey } from './visitor-store.ts';

/** The visitor that a key leads to, through aliases; undefined if there is none. */
export async function findVisitor(
  db: Queryable,
  accountId: string,
  key: VisitorKey,
): Promise<FoundVisitor | undefined> {
  const first = await firstRow(db, accountId, key);
  const signedInAs = 'userId' in key ? first?.signedInAs : undefined;
  const signedIn = signedInAs === undefined ? undefined : await firstRow(db, accountId, { id: signedInAs });
  const visitor = await followAliases(db, signedIn ?? first);
  if (visitor === undefined) return undefined;
  const [, ...aliases] = await clusterOf(db, accountId, visitor.id);
  const identities = await identitiesOf(db, accountId, [visitor.id, ...aliases]);
  const ofKind = (kind: IdentityKind): string[] =>
    identities.filter((row) => row.kind === kind).map((row) => row.value);
  return {
    id: visitor.id,
    properties: visitor.properties.value,
    createdAtMs: Math.floor(visitor.createdAtUs / 1000),
    updatedAtMs: Math.floor(visitor.updatedAtUs / 1000),
    externalIds: ofKind('external_id'),
    emails: ofKind('email'),
    aliases: aliases.toSorted(),
  };
}

/** The row of the visitor that a key leads to, through aliases. */
export async function findRoot(db: Queryable, accountId: string, key: VisitorKey): Promise<StoredVisitor | undefined> {
  return followAliases(db, await firstRow(db, accountId, key));
}

async function firstRow(db: Queryable, accountId: string, key: VisitorKey): Promise<StoredVisitor | undefined> {
  if ('id' in key || 'userId' in key) {
    const id = cleanText('id' in key ? key.id : key.userId);
    if (id === undefined) return undefined;
    const [found] = await selectVisitors(db, [{ accountId, id, known: undefined }]);
    return found?.row;
  }
  const kind = 'externalId' in key ? 'external_id' : 'email';
  const value = 'externalId' in key ? cleanText(key.externalId) : cleanEmail(key.email);
  if (value === undefined) return undefined;
  const [found] = await selectIdentities(db, [{ accountId, kind, value: storedIdentity(value) }]);
  return found?.visitor;
}

async function followAliases(db: Queryable, first: StoredVisitor | undefined): Promise<StoredVisitor | undefined> {
  if (first?.mergedInto === undefined) return first;
  const { accountId } = first;
  const id = await rootOf(db, accountId, first.mergedInto);
  const [root] = await selectVisitors(db, [{ accountId, id, known: undefined }]);
  return root?.row;
}

type IdentityOf = { kind: IdentityKind; value: string };

async function identitiesOf(db: Queryable, accountId: string, ids: readonly string[]): Promise<readonly IdentityOf[]> {
  const { rows } = await db.query<IdentityOf>(
    `select kind, value from visitor_identities where account_id = $1 and visitor_id = any($2::text[])
      order by created_at, value`,
    [accountId, ids],
  );
  return rows;
}

/** The id of a visitor, and the ids of the `aliasesMax` nearest visitors merged into it. */
export async function clusterOf(db: Queryable, accountId: string, id: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(selectCluster('$1::uuid', '$2::text'), [accountId, id]);
  return rows.map((row) => row.id);
}

/** The aliases of several visitors, by visitor id; a visitor without aliases is left out. */
export async function findAliases(
  db: Queryable,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.query<{ root: string; id: string }>({
    name: 'select-aliases',
    text: `select k.id as root, c.id from unnest($2::text[]) as k (id)
      cross join lateral (${selectCluster('$1::uuid', 'k.id')}) c where c.id <> k.id`,
    values: [accountId, ids],
  });
  const aliases = new Map<string, string[]>();
  for (const { root, id } of rows) {
    const own = aliases.get(root);
    if (own === undefined) aliases.set(root, [id]);
    else own.push(id);
  }
  return aliases;
}
