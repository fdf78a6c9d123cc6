import { denialsIn } from './consent-denials.ts';
import type { JsonObject } from '../runtime/json.ts';
import type { AccountVisitors } from './account-visitors.ts';
import type { PlannedEvent } from './planned-event.ts';
import { afterServerGave, keptFromPublic, setByPublicOnly } from './server-set.ts';
import { identityKinds, storedIdentity } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';
import type { Working } from './working-visitor.ts';

/**
 * Applies the properties of an event, except properties that its key may not set. Of properties that are too large, only
 * the refusals of consent are applied, if these fit.
 */
export function applyGiven(account: AccountVisitors, event: PlannedEvent, visitor: Working, layer: JsonObject): void {
  const own = withoutForeignId(account, visitor, layer);
  let given = event.givesAsServer ? own : withoutProtected(event, visitor, own);
  const before = visitor.properties;
  const forced = event.givesAsServer ? setByPublicOnly(visitor.setByServer, before.value) : undefined;
  const isTooLarge = (after: VisitorProperties): boolean => account.isTooLarge(after) && after.bytes > before.bytes;
  let next = before.with(given, event.saidAtMs, forced);
  if (isTooLarge(next)) {
    event.leaveOut('oversized');
    given = { consent: denialsIn(given['consent']) };
    next = before.with(given, event.saidAtMs);
    if (isTooLarge(next)) return;
  }
  if (next !== before) {
    for (const kind of identityKinds) {
      if (given[kind] === null && Object.hasOwn(before.value, kind) && !Object.hasOwn(next.value, kind))
        account.release(kind, visitor);
    }
    account.visitors.change(visitor, next);
  }
  if (!event.givesAsServer) return;
  const setByServer = afterServerGave(visitor.setByServer, given, next.value);
  if (setByServer === visitor.setByServer) return;
  visitor.setByServer = setByServer;
  visitor.changed = true;
}

/** Leaves out an externalId of another visitor: a visitor with an externalId as a property is a known person. */
function withoutForeignId(account: AccountVisitors, visitor: Working, given: JsonObject): JsonObject {
  const { external_id: id, ...others } = given;
  if (typeof id !== 'string' || id === '') return given;
  return account.identities.owner('external_id', storedIdentity(id)) === visitor ? given : others;
}

/** Leaves out properties that a server has set to another value. */
function withoutProtected(event: PlannedEvent, visitor: Working, given: JsonObject): JsonObject {
  const kept = keptFromPublic(visitor.setByServer, visitor.properties.value, given);
  if (kept.length === 0) return given;
  event.leaveOut('notOverwritten', kept.length);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !kept.some((one) => one === name)));
}
