import type { JsonObject } from '../runtime/json.ts';
import type { IdentityLimits } from './identity-limits.ts';
import type { Identifier, VisitorClaim } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';

/** The identifiers and properties of one event, applied in order. */
export type VisitorTouch = {
  readonly accountId: string;
  readonly claim: VisitorClaim;
  /** Identifiers that the event names but its claim lacks: they identify no visitor, and may be suppressed. */
  readonly unclaimed?: readonly Identifier[];
  /** When the event was received, in ms since the epoch. */
  readonly receivedAtMs: number;
  /** The time of the event's properties, in ms since the epoch, never after the receipt. Default: the receipt. */
  readonly saidAtMs?: number;
  readonly given: readonly JsonObject[];
  /** The properties are for a visitor that exists: none is created, and no identifiers are tied. Default: no. */
  readonly isForKnown?: boolean;
  readonly sentWith: KeyTrust;
  /** The account's identity limits. Default: `defaultIdentityLimits`. */
  readonly limits?: IdentityLimits;
  /** The event itself, for the records of merges. */
  readonly event?: { readonly id: string; readonly sourceId: string };
};

/**
 * The rights of an event's key. A `server` key may change everything. A `public` key, which every visitor of a page can
 * read, adds values and does not overwrite a server's values. `signed` is a public key whose event has an identifier
 * signed by a server: it writes properties like a server key. Other identifiers of the event are not signed, so it ties
 * and merges like a public key. A `test` key reads visitors and changes none.
 */
export type KeyTrust = 'server' | 'signed' | 'public' | 'test';

/** Reasons why a change that an event requested was refused. */
export const leftOutReasons = {
  oversized: 'properties or a merge that would have made a visitor larger than it may be',
  keptApart: 'two known people, who stay separate',
  notOverwritten: 'identifiers and contact data set by a server that a public key would have overwritten',
  full: 'an identifier or a merge that would have given a visitor more identifiers than it may have',
  overLimit: 'an e-mail address or a merge beyond the number that the account allows for a visitor',
} as const;

export type LeftOutReason = keyof typeof leftOutReasons;
export type LeftOut = Readonly<Record<LeftOutReason, number>>;

export const nothingLeftOut: LeftOut = { oversized: 0, keptApart: 0, notOverwritten: 0, full: 0, overLimit: 0 };

export type VisitorOutcome =
  /** `properties`: the visitor's properties after this event. `created`: whether this event created the visitor. */
  | {
      readonly kind: 'resolved';
      readonly id: string;
      readonly properties: VisitorProperties;
      readonly created: boolean;
      /** Ids that the event's identifiers had before a merge into this visitor. Absent if there are none. */
      readonly mergedIds?: readonly string[];
      /** Absent if nothing was refused. */
      readonly leftOut?: LeftOut;
    }
  /** The event has an identifier that was erased after the event's receipt, or that is suppressed. */
  | { readonly kind: 'erased' }
  /** The visitor can never be read or stored; other events continue. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The result of `resolve`; outcomes in the order of the touches. */
export type ResolvedVisitors = {
  readonly outcomes: readonly VisitorOutcome[];
  readonly created: number;
  readonly updated: number;
  readonly merged: number;
};

/** The result of a look-up, before anything is written. */
export type LookedUpVisitors = {
  /** In the order of the touches; undefined for touches of accounts with rows to write. */
  readonly outcomes: readonly (VisitorOutcome | undefined)[];
  /** Resolves the remaining touches as `resolve` does, from the rows that were read. Call it at most once. */
  write(): Promise<ResolvedVisitors>;
};

export type FoundVisitor = {
  readonly id: string;
  readonly properties: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /** Ids merged into this visitor, at most `aliasesMax`. */
  readonly aliases: readonly string[];
};

export type VisitorKey =
  | { readonly id: string }
  /** The id of a device or a visitor: finds the visitor of events with only this id. */
  | { readonly userId: string }
  | { readonly externalId: string }
  /** In any spelling: it is trimmed and lower-cased. */
  | { readonly email: string };

/**
 * The visitors of all accounts. Several stores may work on one database at once: no write is lost, and one externalId
 * or e-mail address never ends up with two visitors.
 */
export type VisitorStore = {
  /**
   * Finds or creates the visitor of each touch and applies its properties, in order, as one transaction. Throws
   * VisitorsRefusedError if the database will never accept one of the values, VisitorsFailedError if it fails for one
   * of the visitors, VisitorsUnavailableError if it is unavailable; nothing is stored then.
   */
  resolve(touches: readonly VisitorTouch[]): Promise<ResolvedVisitors>;
  /**
   * Like `resolve`, but in two steps, for touches of several accounts: accounts with nothing to write do not wait for
   * the others. Throws the same errors.
   */
  lookUp(touches: readonly VisitorTouch[]): Promise<LookedUpVisitors>;
  /**
   * Called when a resolver starts, once no other resolver of its partition can publish: the next batch checks for
   * changes before it uses the memory.
   */
  distrust(): void;
  /** Ids merged into each of these visitors, at most `aliasesMax` per visitor. */
  aliasesOf(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** The visitor of an id, an alias, an externalId or an e-mail address. */
  find(accountId: string, key: VisitorKey): Promise<FoundVisitor | undefined>;
};

/** The database will never accept a value; the same call would fail again. */
export class VisitorsRefusedError extends Error {
  readonly code = 'visitors_refused';
}

/**
 * The database works, but fails for one of these visitors: a statement takes too long, or a row cannot be read. Other
 * events must continue without them.
 */
export class VisitorsFailedError extends Error {
  readonly code = 'visitors_failed';
  /** Whether the cause was only a wait for the lock of another transaction. */
  readonly isHeld: boolean;

  constructor(
    message: string,
    { cause, isHeld = false }: { readonly cause?: unknown; readonly isHeld?: boolean } = {},
  ) {
    super(message, { cause });
    this.isHeld = isHeld;
  }
}

/** The database cannot be reached, or cannot serve requests now. */
export class VisitorsUnavailableError extends Error {
  readonly code = 'visitors_unavailable';
}
