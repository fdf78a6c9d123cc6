import type { JsonObject } from '../runtime/json.ts';
import type { IdentityLimits } from './identity-limits.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { VisitorProperties } from './visitor-properties.ts';

/** What one event says about its visitor: who it is, and properties, applied in order. */
export type VisitorTouch = {
  readonly accountId: string;
  readonly claim: VisitorClaim;
  /** When the event was received, in ms since the epoch. */
  readonly receivedAtMs: number;
  /** When it says what it gives, in ms since the epoch, not after its receipt. Default: then. */
  readonly saidAtMs?: number;
  readonly given: readonly JsonObject[];
  readonly sentWith: KeyTrust;
  /** Of the account. Default: those of an account that has set nothing. */
  readonly limits?: IdentityLimits;
  /** The event itself, for the records of merges. */
  readonly event?: { readonly id: string; readonly sourceId: string };
};

/**
 * What the key of an event may do. A `server` key changes everything. A `public` one, which every visitor of a page can read,
 * adds, and does not overwrite what a server has set. `signed` is a public one whose event has the identifier signed by a server:
 * it gives properties as a server does. Other identifiers of the event are not signed, so it ties and merges as a public one.
 * A `test` key reads visitors and changes none.
 */
export type KeyTrust = 'server' | 'signed' | 'public' | 'test';

/** What an event asked for that was not done, and how often. */
export const leftOutReasons = {
  oversized: 'properties or a merge that would have made a visitor larger than it may be',
  keptApart: 'two known people, who stay two',
  notOverwritten: 'identifiers and contact data set by a server that a public key would have overwritten',
  full: 'an identifier or a merge of a visitor that has as many identifiers as it may have',
  overLimit: 'an e-mail address or a merge over how many the account allows a visitor',
} as const;

export type LeftOutReason = keyof typeof leftOutReasons;
export type LeftOut = Readonly<Record<LeftOutReason, number>>;

export const nothingLeftOut: LeftOut = { oversized: 0, keptApart: 0, notOverwritten: 0, full: 0, overLimit: 0 };

export type VisitorOutcome =
  /** `properties` are those after this event; `created` when this event made the visitor. */
  | {
      readonly kind: 'resolved';
      readonly id: string;
      readonly properties: VisitorProperties;
      readonly created: boolean;
      /** Absent where all was done. */
      readonly leftOut?: LeftOut;
    }
  /** It names an identifier that was erased after the event was received, or that is suppressed. */
  | { readonly kind: 'erased' }
  /** No try will ever find or store the visitor; the other events are not held up by that. */
  | { readonly kind: 'refused'; readonly reason: string };

/** What a call of `resolve` did; outcomes in the order of the touches. */
export type ResolvedVisitors = {
  readonly outcomes: readonly VisitorOutcome[];
  readonly created: number;
  readonly updated: number;
  readonly merged: number;
};

/** What is known of some touches before anything is written. */
export type LookedUpVisitors = {
  /** In the order of the touches; undefined for those of accounts whose visitors are to be written first. */
  readonly outcomes: readonly (VisitorOutcome | undefined)[];
  /** Does for the touches of the other accounts what `resolve` does, with what was read. To be called once at most. */
  write(): Promise<ResolvedVisitors>;
};

export type FoundVisitor = {
  readonly id: string;
  readonly properties: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly externalIds: readonly string[];
  readonly emails: readonly string[];
  /** Ids that lead to this visitor since they were merged into it, `aliasesMax` of them at most. */
  readonly aliases: readonly string[];
};

export type VisitorKey =
  | { readonly id: string }
  /** The id of a device or a visitor: whom events with it alone belong to. */
  | { readonly userId: string }
  | { readonly externalId: string }
  /** In any spelling: trimmed and lower-cased here. */
  | { readonly email: string };

/**
 * The visitors of all accounts. Several stores may work on one database at once: no write is lost, and one externalId
 * or e-mail address never ends up with two visitors.
 */
export type VisitorStore = {
  /**
   * Finds or creates the visitor of each touch and applies its properties, in order, as one transaction.
   * Throws VisitorsRefusedError when the database will never take one of the values, VisitorsFailedError when it
   * fails at one of the visitors, VisitorsUnavailableError when it is unavailable; nothing is stored then.
   */
  resolve(touches: readonly VisitorTouch[]): Promise<ResolvedVisitors>;
  /**
   * The same in two steps, for touches of several accounts: who has nothing to write does not wait for those who have.
   * Throws as `resolve` does.
   */
  lookUp(touches: readonly VisitorTouch[]): Promise<LookedUpVisitors>;
  /**
   * Called when a resolver starts, once no other one of its partition can publish: what another process wrote until now is
   * asked for before anything is taken from memory.
   */
  distrust(): void;
  /** Ids that lead to each of some visitors since they were merged into it, `aliasesMax` a visitor at most. */
  aliasesOf(accountId: string, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** The visitor an id, an alias, an externalId or an e-mail address leads to. */
  find(accountId: string, key: VisitorKey): Promise<FoundVisitor | undefined>;
};

/** The database refuses a value for good; the same call would fail again. */
export class VisitorsRefusedError extends Error {
  readonly code = 'visitors_refused';
}

/**
 * The database takes visitors, and fails at these, or at one of them: its statement takes too long, or a row of it cannot be
 * read. Others are to go on without them.
 */
export class VisitorsFailedError extends Error {
  readonly code = 'visitors_failed';
  /** Whether only what another transaction holds was waited for. */
  readonly isHeld: boolean;

  constructor(
    message: string,
    { cause, isHeld = false }: { readonly cause?: unknown; readonly isHeld?: boolean } = {},
  ) {
    super(message, { cause });
    this.isHeld = isHeld;
  }
}

/** The database could not be asked, or not now. */
export class VisitorsUnavailableError extends Error {
  readonly code = 'visitors_unavailable';
}
