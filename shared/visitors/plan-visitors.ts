import type { JsonObject } from '../runtime/json.ts';
import { AccountVisitors } from './account-visitors.ts';
import type { AccountVisitorsOptions } from './account-visitors.ts';
import { applyGiven } from './apply-given.ts';
import { findByEmail, findKnown, followEmail, identify, isEventOf } from './identify-visitor.ts';
import { defaultIdentityLimits } from './identity-limits.ts';
import { isErased, withoutSuppressedDevice } from './is-erased.ts';
import { PlannedEvent } from './planned-event.ts';
import { tiesAsServer } from './server-set.ts';
import { unstoredVisitorId } from './visitor-identity.ts';
import { VisitorProperties } from './visitor-properties.ts';
import type {
  AccountRows,
  ClearedIdentity,
  IdentityRow,
  KnownVisitors,
  VisitorMerge,
  VisitorWrite,
} from './visitor-rows.ts';
import type { VisitorOutcome, VisitorTouch } from './visitor-store.ts';
import { isUnreadable } from './working-visitor.ts';
import type { Working } from './working-visitor.ts';

/** The effect of a batch of events on the visitors: the outcome of each event, and the rows to write. */
export type VisitorPlan = {
  readonly outcomes: readonly VisitorOutcome[];
  /** Visitors to insert or, if `stored` is defined, to update from that state. */
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors that became aliases of another; identifiers that lead to them stay as they are. */
  readonly merges: readonly VisitorMerge[];
  /** Identities to remove before others are inserted, because their property was cleared. */
  readonly cleared: readonly ClearedIdentity[];
  /** Accounts with rows to write. */
  readonly changed: ReadonlySet<string>;
};

/**
 * Decides the effect of events in their order, and changes nothing itself. An event's visitor is looked up by
 * externalId, then by userId, then by e-mail address; if there is none, it is created.
 *
 * A visitor with an externalId is a known person. An event with a userId and an externalId ties the device to that
 * person: the device's visitor, if it has no externalId, merges with the person (the older id stays); another known
 * person keeps all its data, and the device's later events without an externalId belong to the person it was tied to
 * last. Only an alias merges two known people. An e-mail address that has an owner stays with its owner. The account
 * may rank e-mail addresses higher, and limit how many identifiers of a kind a visitor has.
 *
 * An event of a public key does not overwrite identifiers and contact data that a server source has set, and merges no
 * known people. An event of a test key reads visitors and changes none.
 */
export function planVisitors(
  touches: readonly VisitorTouch[],
  known: (accountId: string) => KnownVisitors,
  options: AccountVisitorsOptions,
): VisitorPlan {
  const accounts = new Map<string, AccountVisitors>();
  const outcomes = touches.map((touch) => {
    let account = accounts.get(touch.accountId);
    if (account === undefined) {
      account = new AccountVisitors(touch.accountId, known(touch.accountId), options);
      accounts.set(touch.accountId, account);
    }
    return applyTouch(account, touch);
  });
  const plans = [...accounts.values()].map((account) => account.rows());
  return {
    outcomes,
    writes: plans.flatMap((plan) => plan.writes),
    newIdentities: plans.flatMap((plan) => plan.newIdentities),
    merges: plans.flatMap((plan) => plan.merges),
    cleared: plans.flatMap((plan) => plan.cleared),
    changed: new Set(plans.filter(changesAnything).map(({ accountId }) => accountId)),
  };
}

function changesAnything({ writes, newIdentities, merges, cleared }: AccountRows): boolean {
  return writes.length + newIdentities.length + merges.length + cleared.length > 0;
}

function applyTouch(account: AccountVisitors, received: VisitorTouch): VisitorOutcome {
  if (isErased(received, account.known)) return { kind: 'erased' };
  const touch = withoutSuppressedDevice(received, account.known);
  const { claim, given, isForKnown = false, sentWith, limits = defaultIdentityLimits } = touch;
  const byEmail = findByEmail(account, claim, limits, tiesAsServer(sentWith, claim));
  // If the e-mail address decides, the server's signature does not count: it covers another identifier.
  const trust = byEmail !== undefined && sentWith === 'signed' ? 'public' : sentWith;
  const event = new PlannedEvent(touch, trust);
  const found = byEmail ?? findKnown(account, claim, event.tiesAsServer);
  if (found !== undefined && isUnreadable(found)) return unreadable;
  if (sentWith === 'test') return viewVisitor(account, event, found, given);
  const isOfFound = found !== undefined && (byEmail !== undefined || isEventOf(account, event, found));
  if (isForKnown && !isOfFound) return viewVisitor(account, event, undefined, []);
  const untied = isForKnown ? found : undefined;
  const visitor =
    untied ?? (byEmail === undefined ? identify(account, event, found) : followEmail(account, event, byEmail));
  // The second id of an alias may lead to another visitor than the one that was found.
  if (isUnreadable(visitor)) return unreadable;
  visitor.isSeen = true;
  if (!isForKnown) for (const value of claim.emails) account.tieEmail(event, visitor, value);
  for (const layer of given) applyGiven(account, event, visitor, layer);
  const { id, properties } = visitor;
  const { leftOut } = event;
  const mergedIds = account.mergedIdsIn(claim, visitor);
  return {
    kind: 'resolved',
    id,
    properties,
    created: found === undefined,
    ...(mergedIds.length === 0 ? {} : { mergedIds }),
    ...(leftOut === undefined ? {} : { leftOut }),
  };
}

/** The visitor for an event of a test key: with the event's properties, which are not stored. */
function viewVisitor(
  account: AccountVisitors,
  { claim, saidAtMs }: PlannedEvent,
  found: Working | undefined,
  given: readonly JsonObject[],
): VisitorOutcome {
  let properties = found?.properties ?? VisitorProperties.none;
  for (const layer of given) {
    const next = properties.with(layer, saidAtMs);
    if (!account.isTooLarge(next)) properties = next;
  }
  return { kind: 'resolved', id: found?.id ?? unstoredVisitorId(account.accountId, claim), properties, created: false };
}

const unreadable = { kind: 'refused', reason: 'its visitor is too large to be read' } as const;
