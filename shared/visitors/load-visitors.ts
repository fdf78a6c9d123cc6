import type { AliasRow } from './alias-chains.ts';
import type { Erasure, KnownVisitors, StoredVisitor } from './visitor-rows.ts';
import type { CachedVisitor, Reading, VisitorCache } from './visitor-cache.ts';
import { selectErasures } from './erasures.ts';
import type { ErasuresByAccount, IdentifierAsked } from './erasures.ts';
import { deviceOf, namedBy, storedIdentity } from './visitor-identity.ts';
import type { Identifier, IdentityKind } from './visitor-identity.ts';
import { selectIdentities, selectVisitors } from './visitor-statements.ts';
import type { IdentityAsked, Queryable, VisitorAsked } from './visitor-statements.ts';
import type { VisitorTouch } from './visitor-store.ts';

/** Visitors in their current state in the database. */
export type LoadedVisitors = { of(accountId: string): KnownVisitors; all(): StoredVisitor[] };

/** `erasures`: the erasures in the touches' accounts, read before the visitors. */
type ToLoad = { readonly touches: readonly VisitorTouch[]; readonly erasures: ErasuresByAccount };

/** The cache, and the reading that began before any visitor was read. */
type Known = { readonly cache: VisitorCache; readonly reading: Reading };

/** Chains of aliases with more rows than this are shortened: each row costs a statement. */
const hopsMax = 4;

type Shorten = (aliases: readonly AliasRow[]) => Promise<void>;

/**
 * Reads every visitor that the touches may lead to. Current entries come from the cache; other entries are confirmed by
 * version; without a cache everything is read. Takes one or two statements unless aliases or changed visitors must be
 * followed, and one more if events may belong to erased visitors. Long chains of aliases are passed to `shorten`, if it
 * is given.
 */
export async function loadVisitors(
  db: Queryable,
  { touches, erasures }: ToLoad,
  cache: VisitorCache | undefined,
  shorten: Shorten | undefined,
): Promise<LoadedVisitors> {
  if (cache === undefined) return load(db, { touches, erasures }, { known: undefined, shorten });
  const reading = cache.beginReading();
  try {
    return await load(db, { touches, erasures }, { known: { cache, reading }, shorten });
  } finally {
    cache.endReading(reading);
  }
}

async function load(
  db: Queryable,
  { touches, erasures }: ToLoad,
  { known, shorten }: { readonly known: Known | undefined; readonly shorten: Shorten | undefined },
): Promise<LoadedVisitors> {
  const accounts = new Map<string, AccountLoading>();
  const of = (accountId: string): AccountLoading => {
    let loading = accounts.get(accountId);
    if (loading === undefined) {
      loading = new AccountLoading(accountId, known);
      accounts.set(accountId, loading);
    }
    return loading;
  };
  for (const touch of touches) of(touch.accountId).ask(touch);
  for (let round = 0; ; round += 1) {
    const questions = [...accounts.values()].map((loading) => loading.takeQuestions());
    const visitors = questions.flatMap((question) => question.visitors);
    const identities = questions.flatMap((question) => question.identities);
    if (visitors.length + identities.length === 0) break;
    if (shorten !== undefined && round >= hopsMax) {
      await shorten(visitors.map(({ accountId, id }) => ({ accountId, id: of(accountId).entryTo(id) })));
    }
    for (const { accountId, id, row } of await selectVisitors(db, visitors)) {
      if (row === undefined) of(accountId).remove(id);
      else of(accountId).take(row);
    }
    for (const asked of visitors) of(asked.accountId).confirm(asked);
    for (const found of await selectIdentities(db, identities)) {
      of(found.accountId).takeIdentity(found.kind, found.value, found.visitor);
    }
  }
  const compared = [...accounts.values()].flatMap((loading) => loading.toCompare(erasures));
  for (const { identifier, erasure } of await selectErasures(db, compared)) {
    of(identifier.accountId).takeErasure(identifier, erasure);
  }
  return { of, all: () => [...accounts.values()].flatMap((loading) => loading.all()) };
}

class AccountLoading implements KnownVisitors {
  readonly #accountId: string;
  readonly #known: Known | undefined;
  /** Every requested visitor; undefined until it is known, or if there is none. */
  readonly #visitors = new Map<string, StoredVisitor | undefined>();
  readonly #identities = {
    external_id: new Map<string, string | undefined>(),
    email: new Map<string, string | undefined>(),
  };
  /** Ids that are the userId of an event. */
  readonly #devices = new Set<string>();
  /** Identities from the cache, by the visitor they led to. */
  readonly #assumed = new Map<string, IdentityAsked[]>();
  readonly #touches: VisitorTouch[] = [];
  readonly #erasures = new Map<string, Erasure>();
  #visitorsToRead: VisitorAsked[] = [];
  #identitiesToRead: IdentityAsked[] = [];

  constructor(accountId: string, known: Known | undefined) {
    this.#accountId = accountId;
    this.#known = known;
  }

  visitor(id: string): StoredVisitor | undefined {
    return this.#visitors.get(id);
  }

  identity(kind: IdentityKind, value: string): string | undefined {
    return this.#identities[kind].get(value);
  }

  /** The start of the chain of aliases that leads to an id. */
  entryTo(id: string): string {
    const before = new Map(this.all().map((row) => [row.mergedInto, row.id]));
    let entry = id;
    for (let next: string | undefined = id; next !== undefined; next = before.get(entry)) entry = next;
    return entry;
  }

  erasure({ kind, value }: Identifier): Erasure | undefined {
    return this.#erasures.get(`${kind}\n${value}`);
  }

  all(): StoredVisitor[] {
    return [...this.#visitors.values()].filter((row) => row !== undefined);
  }

  ask(touch: VisitorTouch): void {
    const { userId, externalIds, emails, anonymousId, isAlias } = touch.claim;
    this.#touches.push(touch);
    if (userId !== undefined) this.#askDevice(userId);
    // The new id of an alias may be a device's.
    if (isAlias === true && externalIds[1] !== undefined) this.#askDevice(externalIds[1]);
    for (const value of externalIds) this.#askIdentity('external_id', storedIdentity(value));
    for (const value of emails) this.#askIdentity('email', storedIdentity(value));
    if (anonymousId !== undefined) this.#askVisitor(anonymousId);
  }

  takeQuestions(): { readonly visitors: readonly VisitorAsked[]; readonly identities: readonly IdentityAsked[] } {
    const questions = { visitors: this.#visitorsToRead, identities: this.#identitiesToRead };
    this.#visitorsToRead = [];
    this.#identitiesToRead = [];
    return questions;
  }

  take(row: StoredVisitor): void {
    this.#visitors.set(row.id, row);
    if (this.#known !== undefined) this.#known.cache.take(row, this.#known.reading);
    this.#askLinked(row);
    this.#askAssumed(row.id);
  }

  /** The visitor of a cache entry was deleted, and the cache did not learn of it. */
  remove(id: string): void {
    this.#visitors.set(id, undefined);
    this.#known?.cache.forget(this.#accountId, id);
    this.#askAssumed(id);
  }

  /** A requested visitor without a row in the answer is unchanged since it was cached. */
  confirm({ id, known }: VisitorAsked): void {
    const row = this.#visitors.get(id);
    if (this.#known === undefined || row === undefined || row !== known) return;
    this.#known.cache.confirm(row, this.#known.reading);
  }

  takeIdentity(kind: IdentityKind, value: string, visitor: StoredVisitor): void {
    this.#identities[kind].set(value, visitor.id);
    this.take(visitor);
    if (visitor.mergedInto === undefined) this.#known?.cache.takeIdentity(kind, value, visitor);
  }

  /**
   * Identifiers that may be erased: all identifiers and devices of events received before the last erasure and, if the
   * account has suppressions, those without a visitor. No visitor has a suppressed identifier.
   */
  toCompare(erasures: ErasuresByAccount): readonly IdentifierAsked[] {
    const accountId = this.#accountId;
    const ofAccount = erasures.get(accountId);
    if (ofAccount === undefined) return [];
    const asked = new Map<string, IdentifierAsked>();
    for (const touch of this.#touches) {
      const isEarlier = touch.receivedAtMs <= ofAccount.newestAtMs;
      if (!isEarlier && !ofAccount.hasSuppressions) continue;
      for (const { kind, value } of [...namedBy(touch), ...deviceOf(touch.claim)]) {
        const owner = kind === 'visitor' ? this.visitor(value)?.id : this.identity(kind, value);
        if (isEarlier || owner === undefined) asked.set(`${kind}\n${value}`, { accountId, kind, value });
      }
    }
    return [...asked.values()];
  }

  takeErasure({ kind, value }: Identifier, erasure: Erasure): void {
    this.#erasures.set(`${kind}\n${value}`, erasure);
  }

  #askVisitor(id: string): void {
    if (this.#visitors.has(id)) return;
    this.#askKnown(id, this.#known?.cache.visitor(this.#accountId, id));
  }

  #askIdentity(kind: IdentityKind, value: string): void {
    if (this.#identities[kind].has(value)) return;
    const asked = { accountId: this.#accountId, kind, value };
    const cached = this.#known?.cache.identity(this.#accountId, kind, value);
    this.#identities[kind].set(value, cached?.row.id);
    if (cached === undefined) {
      this.#identitiesToRead.push(asked);
      return;
    }
    const { id } = cached.row;
    const assumed = this.#assumed.get(id);
    if (assumed === undefined) this.#assumed.set(id, [asked]);
    else assumed.push(asked);
    if (!this.#visitors.has(id)) this.#askKnown(id, cached);
  }

  /** Requests identities that led to a visitor's cache entry: the visitor differs, so they may now lead elsewhere. */
  #askAssumed(id: string): void {
    for (const asked of this.#assumed.get(id) ?? []) {
      this.#identities[asked.kind].set(asked.value, undefined);
      this.#identitiesToRead.push(asked);
    }
    this.#assumed.delete(id);
  }

  #askKnown(id: string, cached: CachedVisitor | undefined): void {
    this.#visitors.set(id, cached?.row);
    this.#known?.cache.count(cached);
    const isCurrent = cached !== undefined && this.#known?.cache.isCurrent(cached) === true;
    if (!isCurrent) this.#visitorsToRead.push({ accountId: this.#accountId, id, known: cached?.row });
    if (cached !== undefined) this.#askLinked(cached.row);
  }

  #askDevice(id: string): void {
    const isNew = !this.#devices.has(id);
    this.#devices.add(id);
    const known = this.#visitors.get(id);
    if (known === undefined) this.#askVisitor(id);
    else if (isNew) this.#askLinked(known);
  }

  /** Requests the visitors that a row leads to. A sign-in matters only if the row's id is the userId of an event. */
  #askLinked({ id, mergedInto, signedInAs }: StoredVisitor): void {
    if (mergedInto !== undefined) this.#askVisitor(mergedInto);
    if (signedInAs !== undefined && this.#devices.has(id)) this.#askVisitor(signedInAs);
  }
}
