import type { ClearedIdentity, IdentityRow, KnownVisitors } from './visitor-rows.ts';
import { identityKinds, storedIdentity } from './visitor-identity.ts';
import type { Identifier, IdentityKind } from './visitor-identity.ts';
import { root } from './working-visitor.ts';
import type { Working } from './working-visitor.ts';
import type { WorkingVisitors } from './working-visitors.ts';

/** The visitor of each externalId and e-mail address of an account while a batch is processed. */
export class OwnedIdentities {
  readonly #known: KnownVisitors;
  readonly #visitors: Pick<WorkingVisitors, 'visitor' | 'row' | 'storedRoot'>;
  readonly #owners = { external_id: new Map<string, Working>(), email: new Map<string, Working>() };
  readonly #new = { external_id: new Set<string>(), email: new Set<string>() };
  /** Ids whose stored identities of a kind the batch removes. */
  readonly #released = { external_id: new Set<string>(), email: new Set<string>() };

  constructor(known: KnownVisitors, visitors: Pick<WorkingVisitors, 'visitor' | 'row' | 'storedRoot'>) {
    this.#known = known;
    this.#visitors = visitors;
  }

  owner(kind: IdentityKind, value: string): Working | undefined {
    const working = this.#owners[kind].get(value);
    if (working !== undefined) return root(working);
    const id = this.#known.identity(kind, value);
    if (id === undefined || this.#released[kind].has(this.#visitors.storedRoot(id))) return undefined;
    const owner = this.#visitors.visitor(id);
    if (owner !== undefined) this.#owners[kind].set(value, owner);
    return owner;
  }

  /** The visitor that an identity was tied to, which may have become an alias since. */
  tiedTo(kind: IdentityKind, value: string): Working | undefined {
    const id = this.#known.identity(kind, value);
    return id === undefined ? this.#owners[kind].get(value) : this.#visitors.row(id);
  }

  /** The owner of the first value that has an owner. */
  ownerOf(kind: IdentityKind, values: readonly string[]): Working | undefined {
    for (const value of values) {
      const owner = this.owner(kind, storedIdentity(value));
      if (owner !== undefined) return owner;
    }
    return undefined;
  }

  /** Ties an identity without an owner to a visitor. */
  tie(kind: IdentityKind, value: string, visitor: Working): void {
    this.#owners[kind].set(value, visitor);
    this.#new[kind].add(value);
    if (kind === 'email') visitor.emails += 1;
    else visitor.externalIds += 1;
    // A new identity counts as a write, so that every cache that contains the visitor learns of it.
    visitor.changed = true;
  }

  /** Removes the identities of one kind from a visitor and from the visitors that the batch merged into it. */
  release(kind: IdentityKind, visitor: Working, losers: readonly Working[]): void {
    for (const [value, owner] of this.#owners[kind]) {
      if (root(owner) !== visitor) continue;
      this.#owners[kind].delete(value);
      this.#new[kind].delete(value);
    }
    this.#released[kind].add(visitor.id);
    for (const loser of losers) if (root(loser) === visitor) this.#released[kind].add(loser.id);
    if (kind === 'email') visitor.emails = 0;
    else visitor.externalIds = 0;
  }

  /** Identities that the batch tied to a visitor. */
  newOf(visitor: Working): readonly Identifier[] {
    return identityKinds.flatMap((kind) =>
      [...this.#new[kind]]
        .filter((value) => this.#owners[kind].get(value) === visitor)
        .map((value) => ({ kind, value })),
    );
  }

  rows(accountId: string): {
    readonly newIdentities: readonly IdentityRow[];
    readonly cleared: readonly ClearedIdentity[];
  } {
    const newIdentities = identityKinds.flatMap((kind) =>
      [...this.#new[kind]].flatMap((value) => {
        const owner = this.#owners[kind].get(value);
        return owner === undefined ? [] : [{ accountId, kind, value, visitorId: owner.id }];
      }),
    );
    const cleared = identityKinds.flatMap((kind) =>
      [...this.#released[kind]].map((visitorId) => ({ accountId, visitorId, kind })),
    );
    return { newIdentities, cleared };
  }
}
