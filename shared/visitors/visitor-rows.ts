import type { Identifier, IdentityKind } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';

/** A visitor's row. */
export type StoredVisitor = {
  readonly accountId: string;
  readonly id: string;
  /** Incremented by every write of the row. */
  readonly version: number;
  readonly properties: VisitorProperties;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
  /** The visitor that this one was merged into. */
  readonly mergedInto: string | undefined;
  /**
   * The visitor to which events with only this id belong, once another person has signed in on the device. If the field
   * is undefined, or its visitor was erased, these events belong to this row's visitor.
   */
  readonly signedInAs: string | undefined;
  /** Bits of properties that a server source set, see `bitOfProperty`. */
  readonly setByServer: number;
  /** Ids of the visitor's undone merges: no sign-in merges two visitors that have one of these ids in common. */
  readonly apart: readonly string[];
  /**
   * Numbers of the visitor's externalIds, e-mail addresses and merged ids; for an older row, only the ones added since
   * counting began.
   */
  readonly externalIds: number;
  readonly emails: number;
  readonly aliases: number;
  /**
   * Whether the row is too large to be read; a build without a limit wrote it. Its properties are empty here, and it is
   * never written.
   */
  readonly isUnreadable?: boolean;
};

export type Erasure = {
  /** Ms since the epoch. */
  readonly atMs: number;
  /** Whether later events are dropped, too. */
  readonly isSuppressed: boolean;
};

/** Decides which events of an account, or of all accounts, must be compared with erasures. */
export type ErasureMarks = {
  /**
   * Time of the last erasure, in ms since the epoch. No event received after it is dropped, unless an identifier is
   * suppressed.
   */
  readonly newestAtMs: number;
  readonly hasSuppressions: boolean;
};

/** The visitors of one account that a batch of events may touch. */
export type KnownVisitors = {
  visitor(id: string): StoredVisitor | undefined;
  /** The id of the visitor of an identity. */
  identity(kind: IdentityKind, value: string): string | undefined;
  /** The last erasure of an identifier, if it may affect an event of the batch. */
  erasure(identifier: Identifier): Erasure | undefined;
};

/** A visitor to insert, or to update from the state in which it was read. */
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
  /** Undefined if `from` is a new id: then there is nothing to undo. */
  readonly record: MergeRecord | undefined;
};

/** Why two visitors were merged. */
export type MergeCause = {
  readonly kind: 'signIn' | 'alias' | 'api';
  /** The event's identifier that joined both visitors. */
  readonly identifier?: 'externalId';
  readonly eventId?: string;
  readonly sourceId?: string;
  /** The API key's id, for a merge by the API. */
  readonly principal?: string;
};

export type MergeRecord = {
  readonly cause: MergeCause;
  readonly survivor: MergedState;
  readonly loser: MergedState;
  /** Identities that the batch gave to the loser. */
  readonly loserIdentities: readonly Identifier[];
  readonly mergedProperties: VisitorProperties;
};

/** The state of a visitor before a merge. */
export type MergedState = {
  /** Undefined if PostgreSQL copies the properties from the visitor's row. */
  readonly properties: VisitorProperties | undefined;
  readonly setByServer: number;
  readonly apart: readonly string[];
};

/** The effect of some events on the visitors of an account. */
export type AccountRows = {
  readonly accountId: string;
  readonly writes: readonly VisitorWrite[];
  readonly newIdentities: readonly IdentityRow[];
  readonly merges: readonly VisitorMerge[];
  readonly cleared: readonly ClearedIdentity[];
};
