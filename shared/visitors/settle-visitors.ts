import { afterServerGave, followsSignIn, isSignedInByServer, tiesAsServer } from './server-set.ts';
import { storedIdentity } from './visitor-identity.ts';
import type { IdentityKind } from './visitor-identity.ts';
import type { ErasuresByAccount } from './erasures.ts';
import { mayBeErased } from './is-erased.ts';
import type { CachedVisitor, VisitorCache } from './visitor-cache.ts';
import type { VisitorOutcome, VisitorTouch } from './visitor-store.ts';

/**
 * Outcomes of touches that change nothing and whose visitors are current in the cache, in order; undefined for every
 * other touch and for all later touches of its account, which may depend on its change.
 */
export function settleVisitors(
  touches: readonly VisitorTouch[],
  cache: VisitorCache,
  erasures: ErasuresByAccount,
): readonly (VisitorOutcome | undefined)[] {
  const open = new Set<string>();
  return touches.map((touch) => {
    if (open.has(touch.accountId)) return undefined;
    const marks = erasures.get(touch.accountId);
    const entry = marks !== undefined && mayBeErased(touch, marks) ? undefined : settledVisitor(touch, cache);
    if (entry === undefined) {
      open.add(touch.accountId);
      return undefined;
    }
    cache.count(entry);
    return outcomeOf(entry);
  });
}

/**
 * The outcomes of all touches. If `settleVisitors` would leave an outcome undefined, returns undefined and counts
 * nothing.
 */
export function settleAll(
  touches: readonly VisitorTouch[],
  cache: VisitorCache,
): readonly VisitorOutcome[] | undefined {
  const found: CachedVisitor[] = [];
  for (const touch of touches) {
    const entry = settledVisitor(touch, cache);
    if (entry === undefined) return undefined;
    found.push(entry);
  }
  for (const entry of found) cache.count(entry);
  return found.map(outcomeOf);
}

function outcomeOf({ row: { id, properties } }: CachedVisitor): VisitorOutcome {
  return { kind: 'resolved', id, properties, created: false };
}

/** The visitor of a touch, if everything in the touch is known and unchanged. */
function settledVisitor(touch: VisitorTouch, cache: VisitorCache): CachedVisitor | undefined {
  const { accountId, claim, given, sentWith } = touch;
  const { userId, externalIds, emails, anonymousId } = claim;
  const id = userId ?? anonymousId;
  const row = id === undefined ? undefined : cache.visitor(accountId, id);
  const isServer = tiesAsServer(sentWith, claim);
  let found = row && visitorOfRow(row, isServer, cache);
  if (id !== undefined && found === undefined) return undefined;
  for (const value of externalIds) {
    const owner = ownerOf(accountId, 'external_id', value, cache);
    if (owner === undefined || (found !== undefined && owner !== found)) return undefined;
    found = owner;
  }
  for (const value of emails) {
    const owner = ownerOf(accountId, 'email', value, cache);
    if (owner === undefined || (found !== undefined && owner !== found)) return undefined;
    found = owner;
  }
  if (found === undefined || found.row.isUnreadable === true) return undefined;
  const isSignIn = isServer && userId !== undefined && externalIds.length > 0;
  if (isSignIn && row !== undefined && !isConfirmed(row, found, cache)) return undefined;
  const { properties } = found.row;
  const saidAtMs = Math.floor(touch.saidAtMs ?? touch.receivedAtMs);
  for (const layer of given) if (properties.with(layer, saidAtMs) !== properties) return undefined;
  if (sentWith === 'public' || sentWith === 'test') return found;
  const { setByServer } = found.row;
  return given.every((layer) => afterServerGave(setByServer, layer, properties.value) === setByServer)
    ? found
    : undefined;
}

/** The visitor of events that have the id of a row as userId. */
function visitorOfRow(entry: CachedVisitor, isServer: boolean, cache: VisitorCache): CachedVisitor | undefined {
  const { accountId, signedInAs, setByServer } = entry.row;
  const own = currentRoot(accountId, entry, cache);
  if (signedInAs === undefined || own === undefined) return own;
  return followsSignIn(isServer, setByServer, own.row.setByServer)
    ? currentRoot(accountId, cache.visitor(accountId, signedInAs), cache)
    : own;
}

/** Whether a server's sign-in of a person on the device of a row changes nothing, see `AccountVisitors.tieDevice`. */
function isConfirmed(device: CachedVisitor, person: CachedVisitor, cache: VisitorCache): boolean {
  const { accountId, signedInAs, setByServer } = device.row;
  const own = currentRoot(accountId, device, cache);
  const signedIn = signedInAs === undefined ? own : currentRoot(accountId, cache.visitor(accountId, signedInAs), cache);
  return signedIn === person && isSignedInByServer(setByServer) === (own !== person);
}

function ownerOf(accountId: string, kind: IdentityKind, value: string, cache: VisitorCache): CachedVisitor | undefined {
  return currentRoot(accountId, cache.identity(accountId, kind, storedIdentity(value)), cache);
}

/** The visitor at the end of a chain, if every entry on the way is current. */
function currentRoot(
  accountId: string,
  from: CachedVisitor | undefined,
  cache: VisitorCache,
): CachedVisitor | undefined {
  let entry = from;
  while (entry !== undefined) {
    if (!cache.isCurrent(entry)) return undefined;
    if (entry.row.mergedInto === undefined) return entry;
    entry = cache.visitor(accountId, entry.row.mergedInto);
  }
  return undefined;
}
