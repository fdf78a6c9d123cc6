import type { StoredVisitor } from './stored-visitor.ts';
import type { IdentityKind } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';

/** A visitor to insert, or to update from the state it was read in. */
export type VisitorWrite = {
  readonly accountId: string;
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  readonly properties: VisitorProperties;
  readonly mergedInto: string | undefined;
};

export type IdentityRow = {
  readonly accountId: string;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly visitorId: string;
};

/** All identities of one kind that lead to a visitor. */
export type ClearedIdentity = { readonly accountId: string; readonly visitorId: string; readonly kind: IdentityKind };

export type VisitorMerge = { readonly accountId: string; readonly from: string; readonly into: string };
