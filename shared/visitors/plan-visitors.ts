import type {
  ClearedIdentity,
  IdentityRow,
  KnownVisitors,
  StoredVisitor,
  VisitorMerge,
  VisitorWrite,
} from './visitor-rows.ts';
import type { VisitorOutcome, VisitorTouch } from './visitor-store.ts';
import type { JsonObject } from '../runtime/json.ts';
import type { IdentityKind, VisitorClaim } from './visitor-identity.ts';
import { identityKinds, storedIdentity } from './visitor-identity.ts';
import { VisitorProperties } from './visitor-properties.ts';

/** What a batch of events does to the visitors: the outcome of each event, and the rows to write. */
export type VisitorPlan = {
  readonly outcomes: readonly VisitorOutcome[];
  /** Visitors to insert, or to update when `stored` says from which state. */
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors whose identities and aliases move to another. */
  readonly merges: readonly VisitorMerge[];
  /** Identities to take from a visitor before others are inserted, since the property was cleared. */
  readonly cleared: readonly ClearedIdentity[];
  readonly oversized: number;
  /** Accounts with anything to write, and how often one of theirs would have become too large. */
  readonly changed: ReadonlyMap<string, { readonly oversized: number }>;
};

/**
 * Decides, without touching anything, what the events do, in their order. Order of resolution: userId (direct), then
 * externalId, then e-mail, each looked up or made, else a new visitor. An externalId that leads to another visitor
 * merges the two, and the older id stays; an e-mail address already taken stays where it is.
 */
export function planVisitors(
  touches: readonly VisitorTouch[],
  known: (accountId: string) => KnownVisitors,
  options: AccountBatchOptions,
): VisitorPlan {
  const batches = new Map<string, AccountBatch>();
  const outcomes = touches.map((touch) => {
    let batch = batches.get(touch.accountId);
    if (batch === undefined) {
      batch = new AccountBatch(touch.accountId, known(touch.accountId), options);
      batches.set(touch.accountId, batch);
    }
    return batch.touch(touch);
  });
  const plans = [...batches.values()].map((batch) => batch.rows());
  const changed = plans.filter(changesAnything);
  return {
    outcomes,
    writes: plans.flatMap((plan) => plan.writes),
    newIdentities: plans.flatMap((plan) => plan.newIdentities),
    merges: plans.flatMap((plan) => plan.merges),
    cleared: plans.flatMap((plan) => plan.cleared),
    oversized: plans.reduce((sum, plan) => sum + plan.oversized, 0),
    changed: new Map(changed.map(({ accountId, oversized }) => [accountId, { oversized }])),
  };
}

function changesAnything({ writes, newIdentities, merges, cleared }: AccountRows): boolean {
  return writes.length + newIdentities.length + merges.length + cleared.length > 0;
}

type AccountBatchOptions = {
  /** What the properties of a visitor may weigh as JSON text, in bytes. */
  readonly propertiesBytesMax: number;
  readonly newVisitorId: () => string;
};

/** A visitor while the batch is worked on. */
type Working = {
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  properties: VisitorProperties;
  mergedInto: Working | undefined;
  changed: boolean;
  /** Orders visitors by their last write: rows of the database before anything this batch wrote. */
  writtenAt: number;
};

/** The visitors of one account while events are applied to them, one after the other, in memory. */
class AccountBatch {
  readonly #accountId: string;
  readonly #known: KnownVisitors;
  readonly #options: AccountBatchOptions;
  readonly #visitors = new Map<string, Working>();
  readonly #owners = { external_id: new Map<string, Working>(), email: new Map<string, Working>() };
  readonly #newIdentities = { external_id: new Set<string>(), email: new Set<string>() };
  /** Ids whose identities of a kind, as the database has them, the batch takes away. */
  readonly #released = { external_id: new Set<string>(), email: new Set<string>() };
  readonly #losers: Working[] = [];
  #writes = 0;
  #oversized = 0;

  constructor(accountId: string, known: KnownVisitors, options: AccountBatchOptions) {
    this.#accountId = accountId;
    this.#known = known;
    this.#options = options;
  }

  touch({ claim, given }: VisitorTouch): VisitorOutcome {
    const found = this.#find(claim);
    if (found?.stored?.erased === true) return { kind: 'erased' };
    if (found?.stored?.isUnreadable === true) return unreadable;
    let visitor = found ?? this.#create(claim.userId ?? claim.anonymousId ?? this.#options.newVisitorId());
    for (const value of claim.externalIds) visitor = this.#tie(visitor, 'external_id', value);
    for (const value of claim.emails) visitor = this.#tie(visitor, 'email', value);
    for (const layer of given) this.#apply(visitor, layer);
    return { kind: 'resolved', id: visitor.id, properties: visitor.properties, created: found === undefined };
  }

  /** What the events did so far, as rows to write. */
  rows(): AccountRows {
    const accountId = this.#accountId;
    const writes: VisitorWrite[] = [];
    for (const { id, stored, properties, mergedInto, changed } of this.#visitors.values()) {
      const into = mergedInto === undefined ? undefined : root(mergedInto).id;
      if (changed) writes.push({ accountId, id, stored, properties, mergedInto: into });
    }
    const newIdentities: IdentityRow[] = [];
    const cleared: ClearedIdentity[] = [];
    for (const kind of identityKinds) {
      for (const value of this.#newIdentities[kind]) {
        const owner = this.#owners[kind].get(value);
        if (owner !== undefined) newIdentities.push({ accountId, kind, value, visitorId: root(owner).id });
      }
      for (const visitorId of this.#released[kind]) cleared.push({ accountId, visitorId, kind });
    }
    const merges = this.#losers.map((loser) => ({ accountId, from: loser.id, into: root(loser).id }));
    return { accountId, writes, newIdentities, merges, cleared, oversized: this.#oversized };
  }

  #find({ userId, externalIds, emails, anonymousId }: VisitorClaim): Working | undefined {
    if (userId !== undefined) return this.#visitor(userId);
    if (anonymousId !== undefined) return this.#visitor(anonymousId);
    // An e-mail address is looked up only where there is no externalId.
    const kind = externalIds.length > 0 ? 'external_id' : 'email';
    for (const value of kind === 'email' ? emails : externalIds) {
      const owner = this.#owner(kind, storedIdentity(value));
      if (owner !== undefined) return owner;
    }
    return undefined;
  }

  #visitor(id: string): Working | undefined {
    const working = this.#visitors.get(id);
    if (working !== undefined) return root(working);
    const stored = this.#known.visitor(id);
    if (stored === undefined) return undefined;
    if (stored.mergedInto !== undefined) return this.#visitor(stored.mergedInto);
    const writtenAt = stored.updatedAtUs - Number.MAX_SAFE_INTEGER;
    return this.#hold({ id, stored, properties: stored.properties, mergedInto: undefined, changed: false, writtenAt });
  }

  #create(id: string): Working {
    this.#writes += 1;
    const properties = VisitorProperties.none;
    const writtenAt = this.#writes;
    return this.#hold({ id, stored: undefined, properties, mergedInto: undefined, changed: true, writtenAt });
  }

  #hold(visitor: Working): Working {
    this.#visitors.set(visitor.id, visitor);
    return visitor;
  }

  #owner(kind: IdentityKind, value: string): Working | undefined {
    const working = this.#owners[kind].get(value);
    if (working !== undefined) return root(working);
    const id = this.#known.identity(kind, value);
    if (id === undefined || this.#released[kind].has(id)) return undefined;
    const owner = this.#visitor(id);
    if (owner !== undefined) this.#owners[kind].set(value, owner);
    return owner;
  }

  /** Ties an identity to a visitor; returns the visitor that has it then, which is another one after a merge. */
  #tie(visitor: Working, kind: IdentityKind, given: string): Working {
    const value = storedIdentity(given);
    const owner = this.#owner(kind, value);
    if (owner === undefined) {
      this.#owners[kind].set(value, visitor);
      this.#newIdentities[kind].add(value);
      // A new identity counts as a write, so that whoever holds the visitor in a cache finds out.
      visitor.changed = true;
      return visitor;
    }
    const mergeable = kind === 'external_id' && owner !== visitor && owner.stored?.erased !== true;
    return mergeable ? this.#merge(visitor, owner) : visitor;
  }

  /** Makes one visitor of two; they stay two, and `a` has the event, where the one would be larger than it may be. */
  #merge(a: Working, b: Working): Working {
    const [survivor, loser] = isOlder(a, b) ? [a, b] : [b, a];
    const [earlier, later] = a.writtenAt < b.writtenAt ? [a, b] : [b, a];
    const properties = earlier.properties.mergedWith(later.properties);
    if (this.#isTooLarge(properties)) {
      this.#oversized += 1;
      return a;
    }
    this.#writes += 1;
    survivor.properties = properties;
    survivor.writtenAt = this.#writes;
    survivor.changed = true;
    loser.properties = VisitorProperties.none;
    loser.mergedInto = survivor;
    loser.changed = true;
    this.#losers.push(loser);
    return survivor;
  }

  #isTooLarge(properties: VisitorProperties): boolean {
    return properties.bytes > this.#options.propertiesBytesMax;
  }

  #apply(visitor: Working, given: JsonObject): void {
    const before = visitor.properties;
    const next = before.with(given);
    if (next === before) return;
    if (this.#isTooLarge(next) && next.bytes > before.bytes) {
      this.#oversized += 1;
      return;
    }
    for (const kind of identityKinds) {
      if (given[kind] === null && Object.hasOwn(before.value, kind)) this.#release(visitor, kind);
    }
    this.#writes += 1;
    visitor.properties = next;
    visitor.writtenAt = this.#writes;
    visitor.changed = true;
  }

  /** Takes a visitor's identities of one kind from it; they may be tied anew after that. */
  #release(visitor: Working, kind: IdentityKind): void {
    for (const [value, owner] of this.#owners[kind]) {
      if (root(owner) !== visitor) continue;
      this.#owners[kind].delete(value);
      this.#newIdentities[kind].delete(value);
    }
    this.#released[kind].add(visitor.id);
    for (const loser of this.#losers) {
      if (root(loser) === visitor) this.#released[kind].add(loser.id);
    }
  }
}

const unreadable = { kind: 'refused', reason: 'its visitor is too large to be read' } as const;

type AccountRows = {
  readonly accountId: string;
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  readonly merges: readonly VisitorMerge[];
  readonly cleared: readonly ClearedIdentity[];
  readonly oversized: number;
};

function root(visitor: Working): Working {
  let found = visitor;
  while (found.mergedInto !== undefined) found = found.mergedInto;
  return found;
}

// Rows of the database are older than what the batch makes; made in the same moment, the smaller id counts as older.
function isOlder(a: Working, b: Working): boolean {
  const aUs = a.stored?.createdAtUs ?? Number.MAX_SAFE_INTEGER;
  const bUs = b.stored?.createdAtUs ?? Number.MAX_SAFE_INTEGER;
  return aUs === bUs ? a.id < b.id : aUs < bUs;
}
