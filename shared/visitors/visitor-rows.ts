import type { Identifier, IdentityKind } from './visitor-identity.ts';
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
  /**
   * The visitor to whom events with this id alone belong since another person signed in on the device. Undefined, or gone by an
   * erasure: this visitor.
   */
  readonly signedInAs: string | undefined;
  /** What a server source has set, see `serverSet`. */
  readonly setByServer: number;
  /** Ids of undone merges that it was part of: an event merges no two visitors that share one. */
  readonly apart: readonly string[];
  /** How many externalIds, e-mail addresses and merged ids lead to it; of a row from before this was counted, those since. */
  readonly externalIds: number;
  readonly emails: number;
  readonly aliases: number;
  /** Too large to be read: an earlier build let visitors grow. Its properties are none here, and it is never written. */
  readonly isUnreadable?: boolean;
};

/** When an identifier was erased. */
export type Erasure = {
  /** Ms since the epoch. */
  readonly atMs: number;
  /** Its later events are dropped, too. */
  readonly isSuppressed: boolean;
};

/** Which events have to be compared with erasures, of an account or of all. */
export type ErasureMarks = {
  /** When the last one was, in ms since the epoch. No event received after it is erased, unless it is suppressed. */
  readonly newestAtMs: number;
  readonly hasSuppressions: boolean;
};

/** What is known of the visitors of one account that a batch of events may touch. */
export type KnownVisitors = {
  visitor(id: string): StoredVisitor | undefined;
  /** The id of the visitor an identity leads to. */
  identity(kind: IdentityKind, value: string): string | undefined;
  /** The last erasure of an identifier, where it decides about an event of the batch. */
  erasure(identifier: Identifier): Erasure | undefined;
};

/** A visitor to insert, or to update from the state it was read in. */
export type VisitorWrite = {
  readonly accountId: string;
  readonly id: string;
  readonly stored: StoredVisitor | undefined;
  readonly properties: VisitorProperties;
  readonly mergedInto: string | undefined;
  readonly signedInAs: string | undefined;
  readonly setByServer: number;
  readonly apart: readonly string[];
  readonly externalIds: number;
  readonly emails: number;
  readonly aliases: number;
};

export type IdentityRow = {
  readonly accountId: string;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly visitorId: string;
};

/** All identities of one kind that lead to a visitor. */
export type ClearedIdentity = { readonly accountId: string; readonly visitorId: string; readonly kind: IdentityKind };

export type VisitorMerge = {
  readonly accountId: string;
  readonly from: string;
  readonly into: string;
  /** Undefined where `from` is a new id: there is nothing to undo. */
  readonly record: MergeRecord | undefined;
};

/** Why two visitors became one. */
export type MergeCause = {
  readonly kind: 'signIn' | 'alias' | 'api';
  /** The identifier of the event that was the same. */
  readonly identifier?: 'externalId';
  readonly eventId?: string;
  readonly sourceId?: string;
  /** The API key's id, of a merge by the API. */
  readonly principal?: string;
};

export type MergeRecord = {
  readonly cause: MergeCause;
  readonly survivor: MergedState;
  readonly loser: MergedState;
  /** Identities that the loser was given since its row was read. */
  readonly loserIdentities: readonly Identifier[];
  readonly mergedProperties: VisitorProperties;
};

/** A visitor as it was before a merge. */
export type MergedState = {
  /** Undefined: those of its row, which PostgreSQL copies as they are. */
  readonly properties: VisitorProperties | undefined;
  readonly setByServer: number;
  readonly apart: readonly string[];
};

/** What some events do to the visitors of an account. */
export type AccountRows = {
  readonly accountId: string;
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  readonly merges: readonly VisitorMerge[];
  readonly cleared: readonly ClearedIdentity[];
};
