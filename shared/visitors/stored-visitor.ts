import type { IdentityKind } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';

/** A visitor's row. */
export type StoredVisitor = {
  readonly accountId: string;
  readonly id: string;
  /** Grows with every write of the row. */
  readonly version: number;
  readonly properties: VisitorProperties;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
  /** The visitor this one turned out to be. */
  readonly mergedInto: string | undefined;
  readonly erased: boolean;
};

/** What is known of the visitors of one account that a batch of events may touch. */
export type KnownVisitors = {
  visitor(id: string): StoredVisitor | undefined;
  /** The id of the visitor an identity leads to. */
  identity(kind: IdentityKind, value: string): string | undefined;
};
