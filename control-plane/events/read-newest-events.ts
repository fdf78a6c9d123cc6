import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { viewEvent } from './event-view.ts';
import { listNewestReceived } from './recent-events.ts';

/** As many as a page shows, within the time that counts as live. */
const eventsMax = 100;
const agoMaxMs = 15 * 60_000;

/** The newest events of an account by receipt, with their outcomes so far. */
export async function readNewestEvents(db: Queryable, accountId: string, nowMs: number): Promise<JsonObject> {
  const records = await listNewestReceived(db, accountId, { sinceMs: nowMs - agoMaxMs, limit: eventsMax });
  return { events: records.map(viewEvent) };
}
