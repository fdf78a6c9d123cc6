import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { viewEvent } from './event-view.ts';
import { listNewestReceived } from './recent-events.ts';

/** Maximum number of events, as many as a page shows; only events of the last 15 minutes are included. */
const eventsMax = 100;
const agoMaxMs = 15 * 60_000;

/** The most recently received events of an account, with their outcomes so far. */
export async function readNewestEvents(db: Queryable, accountId: string, nowMs: number): Promise<JsonObject> {
  const records = await listNewestReceived(db, accountId, { sinceMs: nowMs - agoMaxMs, limit: eventsMax });
  return { events: records.map(viewEvent) };
}
