import type { IdentityKind } from './visitor-identity.ts';
import type { IdentityRow, StoredVisitor } from './visitor-rows.ts';
import type { VisitorRowKey } from './visitor-statements.ts';

/** A visitor in the cache, with the identities that led to it when its row was read. */
export class CachedVisitor {
  row: StoredVisitor;
  /** Number of the span, begun by `beginFollowing`, in which the row is unchanged; `never` if it may have changed. */
  span: number;
  /** Whether the visitor was requested since the last search for an entry to remove. */
  isUsed = false;
  bytes = 0;
  readonly identities: { readonly kind: IdentityKind; readonly value: string }[] = [];

  constructor(row: StoredVisitor, span: number) {
    this.row = row;
    this.span = span;
  }
}

/** Changes that became known during a read or write. The result of the read or write may or may not include them. */
export type Reading = { readonly span: number; readonly changed: Map<string, number> };

type AccountVisitors = {
  readonly visitors: Map<string, CachedVisitor>;
  readonly external_id: Map<string, CachedVisitor>;
  readonly email: Map<string, CachedVisitor>;
  /** Whether changes are reported with the same spelling of the account's id. */
  readonly isTold: boolean;
};

const never = -1;

/** The version of a visitor that does not exist. */
export const versionOfNone = 2_147_483_647;

/**
 * Recent visitors and identities, bounded in bytes. Entries are removed first if they were not requested since they
 * were added, or since the last search for an entry to remove (SIEVE,
 * https://www.usenix.org/conference/nsdi24/presentation/zhang-yazhuo).
 *
 * A visitor is current while all changes up to the last check are known and it is not among them; any other entry may
 * be old, and is confirmed by its version. An identity is valid while the visitor that owns it is unchanged: if an
 * identity is removed or gets another owner, the version of its previous owner changes too, even if that is merged.
 */
export class VisitorCache {
  readonly #accounts = new Map<string, AccountVisitors>();
  readonly #entries = new Set<CachedVisitor>();
  #hand: Iterator<CachedVisitor> = this.#entries.values();
  readonly #bytesMax: number;
  #bytes = 0;
  #span = 0;
  #isFollowed = false;
  readonly #readings = new Set<Reading>();
  #hits = 0;
  #confirmed = 0;
  #misses = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Hits and sizes. */
  get figures(): CacheFigures {
    return {
      hits: this.#hits,
      confirmed: this.#confirmed,
      misses: this.#misses,
      visitors: this.#entries.size,
      bytes: this.#bytes,
      bytesMax: this.#bytesMax,
    };
  }

  visitor(accountId: string, id: string): CachedVisitor | undefined {
    return used(this.#accounts.get(accountId)?.visitors.get(id));
  }

  /** The visitor that an identity led to. */
  identity(accountId: string, kind: IdentityKind, value: string): CachedVisitor | undefined {
    return used(this.#accounts.get(accountId)?.[kind].get(value));
  }

  /** Whether a visitor was unchanged in the database at the last check for changes. */
  isCurrent({ span }: CachedVisitor): boolean {
    return this.#isFollowed && span === this.#span;
  }

  /** Counts a look-up by its result: a current entry, one to be confirmed, or none. */
  count(found: CachedVisitor | undefined): void {
    if (found === undefined) this.#misses += 1;
    else if (this.isCurrent(found)) this.#hits += 1;
    else this.#confirmed += 1;
  }

  /** Call before a read or write whose result goes to the cache; call `endReading` afterwards. */
  beginReading(): Reading {
    const reading = { span: this.#span, changed: new Map<string, number>() };
    this.#readings.add(reading);
    return reading;
  }

  endReading(reading: Reading): void {
    this.#readings.delete(reading);
  }

  /** Stores a row that was read. If it differs from the entry, identities that led to the entry may lead elsewhere. */
  take(row: StoredVisitor, reading: Reading): void {
    const held = this.#accounts.get(row.accountId)?.visitors.get(row.id);
    // The row was read before a newer write of it became known.
    if (held !== undefined && isLater(held.row, row) && this.isCurrent(held)) return;
    if (held !== undefined && !isSame(held.row, row)) this.#drop(held);
    this.#put(row, reading);
  }

  /** Stores an identity that leads to a visitor as it is in `row`. */
  takeIdentity(kind: IdentityKind, value: string, row: StoredVisitor): void {
    const account = this.#accounts.get(row.accountId);
    const entry = account?.visitors.get(row.id);
    if (account === undefined || entry === undefined || !isSame(entry.row, row)) return;
    const before = account[kind].get(value);
    if (before === entry) return;
    if (before !== undefined) this.#drop(before);
    account[kind].set(value, entry);
    entry.identities.push({ kind, value });
    this.#grow(entry, identityBytes + value.length);
  }

  /** The database confirms that a row of the cache is current. */
  confirm(row: StoredVisitor, reading: Reading): void {
    const entry = this.#accounts.get(row.accountId)?.visitors.get(row.id);
    if (entry?.row === row) entry.span = this.#spanOf(row, reading);
  }

  /** Stores rows that this process wrote. Identities that it did not write still lead to the rows in the cache. */
  takeWritten({ visitors, newIdentities, released }: WrittenVisitors, reading: Reading): void {
    for (const { accountId, id } of released) this.forget(accountId, id);
    for (const row of visitors) {
      const held = this.#accounts.get(row.accountId)?.visitors.get(row.id);
      const isKnown = held !== undefined && isSame(held.row, { ...row, version: row.version - 1 });
      if (isKnown) this.#put(row, reading);
      else this.take(row, reading);
    }
    for (const { accountId, kind, value, visitorId } of newIdentities) {
      const entry = this.#accounts.get(accountId)?.visitors.get(visitorId);
      if (entry !== undefined) this.takeIdentity(kind, value, entry.row);
    }
  }

  /** A visitor was changed: entries older than `version` are old. A deleted visitor has `versionOfNone`. */
  noteChange(accountId: string, id: string, version: number): void {
    const entry = this.#accounts.get(accountId)?.visitors.get(id);
    if (entry !== undefined && entry.row.version < version) {
      if (version === versionOfNone) this.#drop(entry);
      else entry.span = never;
    }
    if (this.#readings.size === 0) return;
    const key = changeKey(accountId, id);
    for (const { changed } of this.#readings) changed.set(key, Math.max(version, changed.get(key) ?? 0));
  }

  /** All changes are known from now on. Rows read before may have changed. */
  beginFollowing(): void {
    this.#span += 1;
    this.#isFollowed = true;
  }

  forget(accountId: string, id: string): void {
    const entry = this.#accounts.get(accountId)?.visitors.get(id);
    if (entry !== undefined) this.#drop(entry);
  }

  /** Removes all entries, after a change that names no visitors. */
  forgetAll(): void {
    for (const entry of this.#entries) this.#drop(entry);
  }

  /** Changes are unknown from now on. */
  stopFollowing(): void {
    this.#isFollowed = false;
  }

  #put(row: StoredVisitor, reading: Reading): void {
    if (changeOf(row, reading) === versionOfNone) return;
    const account = this.#accountOf(row.accountId);
    const span = this.#spanOf(row, reading);
    let entry = account.visitors.get(row.id);
    if (entry === undefined) {
      entry = new CachedVisitor(row, span);
      account.visitors.set(row.id, entry);
      this.#entries.add(entry);
      this.#grow(entry, bytesOf(row));
    } else {
      const grown = bytesOf(row) - bytesOf(entry.row);
      entry.row = row;
      entry.span = span;
      this.#grow(entry, grown);
    }
  }

  #accountOf(accountId: string): AccountVisitors {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      const isTold = canonicalUuid.test(accountId);
      account = { visitors: new Map(), external_id: new Map(), email: new Map(), isTold };
      this.#accounts.set(accountId, account);
    }
    return account;
  }

  /** The span of a row that was read; `never` if it was changed meanwhile or its changes are not reported. */
  #spanOf(row: StoredVisitor, reading: Reading): number {
    const isChanged = changeOf(row, reading) > row.version;
    return isChanged || this.#accounts.get(row.accountId)?.isTold !== true ? never : reading.span;
  }

  #grow(entry: CachedVisitor, bytes: number): void {
    entry.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax && this.#entries.size > 0) this.#leaveOneOut();
  }

  #leaveOneOut(): void {
    const { value: entry, done } = this.#hand.next();
    if (done === true) this.#hand = this.#entries.values();
    else if (entry.isUsed) entry.isUsed = false;
    else this.#drop(entry);
  }

  #drop(entry: CachedVisitor): void {
    const { accountId, id } = entry.row;
    const account = this.#accounts.get(accountId);
    if (account === undefined || !this.#entries.delete(entry)) return;
    account.visitors.delete(id);
    for (const { kind, value } of entry.identities) {
      if (account[kind].get(value) === entry) account[kind].delete(value);
    }
    if (account.visitors.size === 0) this.#accounts.delete(accountId);
    this.#bytes -= entry.bytes;
  }
}

/** The rows that a transaction wrote. */
export type WrittenVisitors = {
  readonly visitors: readonly StoredVisitor[];
  readonly newIdentities: readonly IdentityRow[];
  /** Visitors of which identities were removed. */
  readonly released: readonly VisitorRowKey[];
};

/**
 * Look-ups by result: current, confirmed by the database, or not found; and the number and approximate bytes of
 * entries.
 */
export type CacheFigures = {
  readonly hits: number;
  readonly confirmed: number;
  readonly misses: number;
  readonly visitors: number;
  readonly bytes: number;
  readonly bytesMax: number;
};

/** Approximate bytes of an entry without its text: map entries, row object, keys. */
const entryBytes = 500;
const identityBytes = 150;

/**
 * Bytes of the text, of the visitor's part of a log line, of the object (about three per character) and of the times
 * with their map.
 */
const bytesOf = ({ id, properties }: StoredVisitor): number =>
  entryBytes + id.length * 3 + properties.text.length * 5 + (properties.timesText?.length ?? 0) * 3;

type Written = Pick<StoredVisitor, 'version' | 'createdAtUs'>;

/** Whether two rows are the same write of a visitor. One that returns after an erasure starts at version 1 again. */
const isSame = (a: Written, b: Written): boolean => a.version === b.version && a.createdAtUs === b.createdAtUs;

const isLater = (a: Written, b: Written): boolean => a.version > b.version && a.createdAtUs === b.createdAtUs;

const canonicalUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The version of a row's change that became known while the row was read; 0 if no change became known. */
const changeOf = ({ accountId, id }: StoredVisitor, { changed }: Reading): number =>
  changed.size === 0 ? 0 : (changed.get(changeKey(accountId, id)) ?? 0);

const changeKey = (accountId: string, id: string): string => `${accountId}\n${id}`;

function used(entry: CachedVisitor | undefined): CachedVisitor | undefined {
  if (entry !== undefined) entry.isUsed = true;
  return entry;
}
