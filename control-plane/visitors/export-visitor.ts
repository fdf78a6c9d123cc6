import type { JsonObject } from '../../shared/runtime/json.ts';
import { findVisitor } from '../../shared/visitors/find-visitor.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { VisitorKey } from '../../shared/visitors/visitor-store.ts';
import { countRecentEvents } from '../events/recent-events.ts';
import { viewVisitor } from './visitor-view.ts';

/** The visitor a key leads to, as it is shown; undefined when the account has none or it was erased. */
export async function exportVisitor(
  db: Queryable,
  accountId: string,
  key: VisitorKey,
): Promise<JsonObject | undefined> {
  const visitor = await findVisitor(db, accountId, key);
  if (visitor === undefined) return undefined;
  return viewVisitor(visitor, await countRecentEvents(db, accountId, [visitor.id, ...visitor.aliases]));
}
