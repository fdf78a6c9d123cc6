import type { JsonObject } from '../process/json.ts';
import { applyProperties, mergeVisitorProperties } from './merge.ts';
import { identityKey, visitorKey } from './stored-visitor.ts';
import type { KnownVisitors, StoredVisitor } from './stored-visitor.ts';
import { storedIdentity } from './visitor-identity.ts';
import type { IdentityKind } from './visitor-identity.ts';
import type { VisitorOutcome, VisitorTouch } from './visitor-store.ts';

/** What a batch of events does to the visitors: the outcome of each event, and the rows to write. */
export type VisitorPlan = {
  readonly outcomes: readonly VisitorOutcome[];
  /** Visitors to insert, or to update when `stored` says from which state. */
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors whose identities and aliases move to another. */
  readonly merges: readonly VisitorMerge[];
  /** Identities to take from a visitor before anything else is written, since the property was cleared. */
  readonly cleared: readonly ClearedIdentity[];
  readonly oversized: number;
};

export type VisitorWrite = {
  readonly accountId: string;
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  readonly properties: JsonObject;
  /** Length of the properties as JSON text, at most. */
  readonly propertiesLength: number;
  readonly mergedInto: string | undefined;
};

export type IdentityRow = {
  readonly accountId: string;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly visitorId: string;
};

export type ClearedIdentity = { readonly accountId: string; readonly visitorId: string; readonly kind: IdentityKind };

export type VisitorMerge = { readonly accountId: string; readonly from: string; readonly into: string };

export type PlanOptions = {
  /** Properties of a visitor as JSON text are no longer than this. */
  readonly propertiesLengthMax: number;
  readonly newVisitorId: () => string;
};

/**
 * Decides, without touching anything, what the events do, in their order. Order of resolution: userId (direct), then
 * externalId, then e-mail, each looked up or made, else a new visitor. An externalId that leads to another visitor
 * merges the two, and the older id stays; an e-mail address already taken stays where it is.
 */
export function planVisitors(
  touches: readonly VisitorTouch[],
  known: KnownVisitors,
  options: PlanOptions,
): VisitorPlan {
  const batch = new VisitorBatch(known, options);
  const outcomes = touches.map((touch) => batch.touch(touch));
  return batch.plan(outcomes);
}

/** A visitor while the batch is worked on. */
type Working = {
  readonly accountId: string;
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  properties: JsonObject;
  lengthAtMost: number;
  mergedInto: Working | undefined;
  changed: boolean;
  /** Orders visitors by their last write: rows of the database before anything this batch wrote. */
  writtenAt: number;
};

class VisitorBatch {
  readonly #known: KnownVisitors;
  readonly #options: PlanOptions;
  readonly #visitors = new Map<string, Working>();
  readonly #identities = new Map<string, { readonly row: Omit<IdentityRow, 'visitorId'>; readonly owner: Working }>();
  readonly #newIdentities = new Set<string>();
  /** Visitors whose identities of a kind, as the database has them, this batch takes away. */
  readonly #released = new Set<string>();
  readonly #losers: Working[] = [];
  readonly #cleared: ClearedIdentity[] = [];
  #writes = 0;
  #oversized = 0;

  constructor(known: KnownVisitors, options: PlanOptions) {
    this.#known = known;
    this.#options = options;
  }

  touch(touch: VisitorTouch): VisitorOutcome {
    const { accountId, claim } = touch;
    const found = this.#find(touch);
    if (found?.stored?.erased === true) return { kind: 'erased' };
    const newId = (): string => claim.userId ?? claim.anonymousId ?? this.#options.newVisitorId();
    const visitor = found ?? this.#create(accountId, newId());
    let owner = visitor;
    for (const value of claim.externalIds) owner = this.#tie(owner, 'external_id', value);
    for (const value of claim.emails) owner = this.#tie(owner, 'email', value);
    for (const given of touch.given) this.#apply(owner, given);
    const created = found === undefined;
    return { kind: 'resolved', id: owner.id, properties: owner.properties, created };
  }

  plan(outcomes: readonly VisitorOutcome[]): VisitorPlan {
    const writes: VisitorWrite[] = [];
    for (const visitor of this.#visitors.values()) {
      if (!visitor.changed) continue;
      const { accountId, id, stored, properties, mergedInto } = visitor;
      const into = mergedInto === undefined ? undefined : root(mergedInto).id;
      writes.push({ accountId, id, stored, properties, propertiesLength: visitor.lengthAtMost, mergedInto: into });
    }
    const newIdentities = [...this.#newIdentities].flatMap((key) => {
      const identity = this.#identities.get(key);
      return identity === undefined ? [] : [{ ...identity.row, visitorId: root(identity.owner).id }];
    });
    const merges = this.#losers.map((loser) => ({ accountId: loser.accountId, from: loser.id, into: root(loser).id }));
    return { outcomes, writes, newIdentities, merges, cleared: this.#cleared, oversized: this.#oversized };
  }

  #find({ accountId, claim }: VisitorTouch): Working | undefined {
    if (claim.userId !== undefined) return this.#visitor(accountId, claim.userId);
    for (const [kind, values] of [
      ['external_id', claim.externalIds],
      ['email', claim.emails],
    ] as const) {
      for (const value of values) {
        const owner = this.#owner(accountId, kind, storedIdentity(value));
        if (owner !== undefined) return owner;
      }
      // An e-mail address is looked up only where there is no externalId.
      if (values.length > 0) return undefined;
    }
    return claim.anonymousId === undefined ? undefined : this.#visitor(accountId, claim.anonymousId);
  }

  #visitor(accountId: string, id: string): Working | undefined {
    const key = visitorKey(accountId, id);
    const working = this.#visitors.get(key);
    if (working !== undefined) return root(working);
    const stored = this.#known.visitor(accountId, id);
    if (stored === undefined) return undefined;
    if (stored.mergedInto !== undefined) return this.#visitor(accountId, stored.mergedInto);
    const { properties, propertiesLength, updatedAtUs } = stored;
    const loaded: Working = {
      accountId,
      id,
      stored,
      properties,
      lengthAtMost: propertiesLength,
      mergedInto: undefined,
      changed: false,
      writtenAt: updatedAtUs - Number.MAX_SAFE_INTEGER,
    };
    this.#visitors.set(key, loaded);
    return loaded;
  }

  #create(accountId: string, id: string): Working {
    this.#writes += 1;
    const made: Working = {
      accountId,
      id,
      stored: undefined,
      properties: {},
      lengthAtMost: 2,
      mergedInto: undefined,
      changed: true,
      writtenAt: this.#writes,
    };
    this.#visitors.set(visitorKey(accountId, id), made);
    return made;
  }

  #owner(accountId: string, kind: IdentityKind, value: string): Working | undefined {
    const key = identityKey(accountId, kind, value);
    const identity = this.#identities.get(key);
    if (identity !== undefined) return root(identity.owner);
    const id = this.#known.identity(accountId, kind, value);
    if (id === undefined || this.#released.has(identityKey(accountId, kind, id))) return undefined;
    const owner = this.#visitor(accountId, id);
    if (owner !== undefined) this.#identities.set(key, { row: { accountId, kind, value }, owner });
    return owner;
  }

  /** Ties an identity to a visitor; returns the visitor that has it then, which is another one after a merge. */
  #tie(visitor: Working, kind: IdentityKind, given: string): Working {
    const { accountId } = visitor;
    const value = storedIdentity(given);
    const owner = this.#owner(accountId, kind, value);
    if (owner === undefined) {
      const key = identityKey(accountId, kind, value);
      this.#identities.set(key, { row: { accountId, kind, value }, owner: visitor });
      this.#newIdentities.add(key);
      // A new identity counts as a write, so that whoever holds the visitor in a cache finds out.
      visitor.changed = true;
      return visitor;
    }
    const mergeable = kind === 'external_id' && owner !== visitor && owner.stored?.erased !== true;
    return mergeable ? this.#merge(visitor, owner) : visitor;
  }

  #merge(a: Working, b: Working): Working {
    const [survivor, loser] = isOlder(a, b) ? [a, b] : [b, a];
    const [earlier, later] = a.writtenAt < b.writtenAt ? [a, b] : [b, a];
    this.#writes += 1;
    survivor.properties = mergeVisitorProperties(earlier.properties, later.properties);
    survivor.lengthAtMost = a.lengthAtMost + b.lengthAtMost;
    survivor.writtenAt = this.#writes;
    survivor.changed = true;
    loser.properties = {};
    loser.mergedInto = survivor;
    loser.changed = true;
    this.#losers.push(loser);
    return survivor;
  }

  #apply(visitor: Working, given: JsonObject): void {
    const next = applyProperties(visitor.properties, given);
    if (next === visitor.properties) return;
    let lengthAtMost = visitor.lengthAtMost + JSON.stringify(given).length;
    if (lengthAtMost > this.#options.propertiesLengthMax) {
      lengthAtMost = JSON.stringify(next).length;
      const grows = lengthAtMost > JSON.stringify(visitor.properties).length;
      if (grows && lengthAtMost > this.#options.propertiesLengthMax) {
        this.#oversized += 1;
        return;
      }
    }
    for (const kind of ['external_id', 'email'] as const) {
      if (given[kind] === null && Object.hasOwn(visitor.properties, kind)) this.#release(visitor, kind);
    }
    this.#writes += 1;
    visitor.properties = next;
    visitor.lengthAtMost = lengthAtMost;
    visitor.writtenAt = this.#writes;
    visitor.changed = true;
  }

  /** Takes a visitor's identities of one kind from it; they may be tied anew after that. */
  #release(visitor: Working, kind: IdentityKind): void {
    for (const [key, { row, owner }] of this.#identities) {
      if (row.kind !== kind || root(owner) !== visitor) continue;
      this.#identities.delete(key);
      this.#newIdentities.delete(key);
    }
    const merged = this.#losers.filter((loser) => root(loser) === visitor);
    for (const { accountId, id } of [visitor, ...merged]) {
      this.#cleared.push({ accountId, visitorId: id, kind });
      this.#released.add(identityKey(accountId, kind, id));
    }
  }
}

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
