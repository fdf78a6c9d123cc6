import type { JsonObject } from '../process/json.ts';
import type { IdentityKind } from './visitor-identity.ts';

/** A visitor's row. */
export type StoredVisitor = {
  readonly accountId: string;
  readonly id: string;
  /** Grows with every write of the row. */
  readonly version: number;
  readonly properties: JsonObject;
  /** Length of the properties as JSON text. */
  readonly propertiesLength: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
  /** The visitor this one turned out to be. */
  readonly mergedInto: string | undefined;
  readonly erased: boolean;
};

/** What is known of the visitors a batch of events may touch. */
export type KnownVisitors = {
  visitor(accountId: string, id: string): StoredVisitor | undefined;
  /** The id of the visitor an identity leads to. */
  identity(accountId: string, kind: IdentityKind, value: string): string | undefined;
};

export const visitorKey = (accountId: string, id: string): string => `${accountId}\n${id}`;
export const identityKey = (accountId: string, kind: IdentityKind, value: string): string =>
  `${accountId}\n${kind}\n${value}`;
