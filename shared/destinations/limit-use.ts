import type { JsonObject } from '../runtime/json.ts';
import { changeEvents, changeProperties } from './change-events.ts';
import type { PreparedDestination } from './sdk/destination.ts';
import { withoutMembers } from './sdk/json.ts';
import { limitedDataUse } from './sdk/limited-data-use.ts';

/**
 * Adds the platform's limited-use fields to events of visitors who opted out, whatever a mapping or
 * the event's own `consent` contains. For kinds that declare such fields in `facts`.
 */
export function withLimitedUse<Prepared extends PreparedDestination>(prepared: Prepared): Prepared {
  return changeEvents(prepared, (event) => (event.isLimited === true ? changeProperties(event, limited) : event));
}

const grants: ReadonlySet<string> = new Set(['consent']);

/** A `consent` property may grant what the visitor opted out of, so it is removed. */
const limited = (properties: JsonObject): JsonObject => ({
  ...withoutMembers(properties, grants),
  [limitedDataUse]: true,
});
