import { identityKey, visitorKey } from './stored-visitor.ts';
import type { KnownVisitors, StoredVisitor } from './stored-visitor.ts';
import type { VisitorCache } from './visitor-cache.ts';
import { storedIdentity } from './visitor-identity.ts';
import type { IdentityKind } from './visitor-identity.ts';
import { selectIdentities, selectVisitors } from './visitor-statements.ts';
import type { IdentityAsked, Queryable, VisitorAsked } from './visitor-statements.ts';
import type { VisitorTouch } from './visitor-store.ts';

/** Visitors as they are in the database now, with all of those rows. */
export type LoadedVisitors = KnownVisitors & { readonly rows: ReadonlyMap<string, StoredVisitor> };

/**
 * Reads every visitor the touches may lead to. What the cache holds is only confirmed, by version; with `cache`
 * undefined everything is read. One or two statements unless aliases or changed visitors have to be followed.
 */
export async function loadVisitors(
  db: Queryable,
  touches: readonly VisitorTouch[],
  cache: VisitorCache | undefined,
): Promise<LoadedVisitors> {
  const load = new Loading(cache);
  for (const { accountId, claim } of touches) {
    if (claim.userId !== undefined) load.askVisitor(accountId, claim.userId);
    for (const value of claim.externalIds) load.askIdentity(accountId, 'external_id', storedIdentity(value));
    for (const value of claim.emails) load.askIdentity(accountId, 'email', storedIdentity(value));
    if (claim.anonymousId !== undefined) load.askVisitor(accountId, claim.anonymousId);
  }
  await load.run(db);
  return load;
}

class Loading implements LoadedVisitors {
  readonly rows = new Map<string, StoredVisitor>();
  readonly #cache: VisitorCache | undefined;
  readonly #identities = new Map<string, string>();
  /** Which identities were taken from the cache, by the visitor they led to. */
  readonly #assumed = new Map<string, IdentityAsked[]>();
  readonly #askedVisitors = new Set<string>();
  readonly #askedIdentities = new Set<string>();
  #visitorsToRead: VisitorAsked[] = [];
  #identitiesToRead: IdentityAsked[] = [];

  constructor(cache: VisitorCache | undefined) {
    this.#cache = cache;
  }

  visitor(accountId: string, id: string): StoredVisitor | undefined {
    return this.rows.get(visitorKey(accountId, id));
  }

  identity(accountId: string, kind: IdentityKind, value: string): string | undefined {
    return this.#identities.get(identityKey(accountId, kind, value));
  }

  askVisitor(accountId: string, id: string): void {
    const key = visitorKey(accountId, id);
    if (this.#askedVisitors.has(key)) return;
    this.#askedVisitors.add(key);
    const cached = this.#cache?.visitor(accountId, id);
    this.#visitorsToRead.push({ accountId, id, version: cached?.version });
    if (cached === undefined) return;
    this.rows.set(key, cached);
    if (cached.mergedInto !== undefined) this.askVisitor(accountId, cached.mergedInto);
  }

  askIdentity(accountId: string, kind: IdentityKind, value: string): void {
    const key = identityKey(accountId, kind, value);
    if (this.#askedIdentities.has(key)) return;
    this.#askedIdentities.add(key);
    const asked = { accountId, kind, value };
    const cachedId = this.#cache?.identity(accountId, kind, value);
    if (cachedId === undefined) {
      this.#identitiesToRead.push(asked);
      return;
    }
    this.#identities.set(key, cachedId);
    const owner = visitorKey(accountId, cachedId);
    const assumed = this.#assumed.get(owner);
    if (assumed === undefined) this.#assumed.set(owner, [asked]);
    else assumed.push(asked);
    this.askVisitor(accountId, cachedId);
  }

  async run(db: Queryable): Promise<void> {
    while (this.#visitorsToRead.length + this.#identitiesToRead.length > 0) {
      const visitors = this.#visitorsToRead;
      const identities = this.#identitiesToRead;
      this.#visitorsToRead = [];
      this.#identitiesToRead = [];
      const [rows, found] = await Promise.all([selectVisitors(db, visitors), selectIdentities(db, identities)]);
      for (const row of rows) this.#take(row);
      for (const { accountId, kind, value, visitor } of found) {
        this.#identities.set(identityKey(accountId, kind, value), visitor.id);
        if (visitor.mergedInto === undefined && !visitor.erased) {
          this.#cache?.setIdentity(accountId, kind, value, visitor.id);
        }
        this.#askedVisitors.add(visitorKey(accountId, visitor.id));
        this.#take(visitor);
      }
    }
  }

  #take(row: StoredVisitor): void {
    const key = visitorKey(row.accountId, row.id);
    this.rows.set(key, row);
    this.#cache?.setVisitor(row);
    if (row.mergedInto !== undefined) this.askVisitor(row.accountId, row.mergedInto);
    // The visitor is not what the cache had: an identity that led to it may lead elsewhere by now.
    const assumed = this.#assumed.get(key);
    if (assumed === undefined) return;
    this.#assumed.delete(key);
    for (const asked of assumed) {
      this.#identities.delete(identityKey(asked.accountId, asked.kind, asked.value));
      this.#identitiesToRead.push(asked);
    }
  }
}
