import { LRUCache } from 'lru-cache';
import type { StoredVisitor } from './visitor-rows.ts';
import type { IdentityKind } from './visitor-identity.ts';

/**
 * Visitors and identities seen lately, bounded in bytes. An entry may be old: a reader asks the database whether the
 * version still stands. Whatever changes where an identity leads also changes the version of the visitor it led to.
 */
export class VisitorCache {
  readonly #visitors: LRUCache<string, StoredVisitor>;
  readonly #identities: LRUCache<string, string>;

  readonly #bytesMax: number;
  #hits = 0;
  #misses = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    // An entry costs about this much beside its text: key, row object, list links.
    const entryBytes = 400;
    this.#visitors = new LRUCache({
      maxSize: Math.max(1, Math.floor(bytesMax * 0.8)),
      // The text, and about three bytes a character for the object.
      sizeCalculation: (visitor, key) => entryBytes + key.length + visitor.properties.text.length * 4,
    });
    this.#identities = new LRUCache({
      maxSize: Math.max(1, Math.floor(bytesMax * 0.2)),
      sizeCalculation: (id, key) => 150 + id.length + key.length,
    });
  }

  get size(): number {
    return this.#visitors.size;
  }

  /** What it has been good for. */
  get figures(): CacheFigures {
    const bytes = this.#visitors.calculatedSize + this.#identities.calculatedSize;
    return { hits: this.#hits, misses: this.#misses, visitors: this.#visitors.size, bytes, bytesMax: this.#bytesMax };
  }

  visitor(accountId: string, id: string): StoredVisitor | undefined {
    const found = this.#visitors.get(visitorKey(accountId, id));
    if (found === undefined) this.#misses += 1;
    else this.#hits += 1;
    return found;
  }

  /** The id of the visitor an identity led to. */
  identity(accountId: string, kind: IdentityKind, value: string): string | undefined {
    return this.#identities.get(identityKey(accountId, kind, value));
  }

  setVisitor(visitor: StoredVisitor): void {
    this.#visitors.set(visitorKey(visitor.accountId, visitor.id), visitor);
  }

  setIdentity(accountId: string, kind: IdentityKind, value: string, visitorId: string): void {
    this.#identities.set(identityKey(accountId, kind, value), visitorId);
  }
}

/** Visitors looked up and found, or not; what is held, in number and in bytes (about). */
export type CacheFigures = {
  readonly hits: number;
  readonly misses: number;
  readonly visitors: number;
  readonly bytes: number;
  readonly bytesMax: number;
};

const visitorKey = (accountId: string, id: string): string => `${accountId}\n${id}`;
const identityKey = (accountId: string, kind: IdentityKind, value: string): string => `${accountId}\n${kind}\n${value}`;
