import type { GoogleConsentType } from '../../contracts/events/consent-words.ts';

/**
 * What is known of a platform, declared once beside its kind: the page of all kinds is made of it, its scripted platform
 * and the contract test hold the kind to it.
 */
export type KindFacts = {
  /** What of an event goes out, in a few words. */
  readonly sends: string;
  readonly limits: KindLimits;
  /** The field by which the platform recognises an event it has; undefined where it counts a repeated one twice. */
  readonly deduplicatesBy: string | undefined;
  /** How the platform says what it did not take, and why. */
  readonly errors: string;
  /**
   * How a limit of use of an event is sent, in the platform's terms; undefined where it has none, or
   * is no advertising platform.
   */
  readonly limitedUse?: string;
  /** Google's consent types that requests carry, as the property `consent` of an event has them. */
  readonly consentTypes?: readonly GoogleConsentType[];
  /** Where this was read: pages of the platform, else open implementations. */
  readonly sources: readonly [string, ...string[]];
  /** When it was last compared with them, `yyyy-mm-dd`. */
  readonly checked: string;
  /** The version of the interface that requests are made to, where the platform dates or numbers them. */
  readonly version: KindVersion | 'unversioned';
  /**
   * Why the kind skips a call that says something of a person or a group, in a few words, where `standardSkips` does not say
   * it well.
   */
  readonly skips?: Readonly<Partial<Record<SkippedCall, string>>>;
  /**
   * What users of other integrations with the platform may look for and the kind does not carry, each with the reason or what
   * to do instead: a part of a sentence.
   */
  readonly notCarried?: readonly string[];
  /**
   * What Segment and RudderStack call the platform in `integrations`, today or earlier, where that is not the kind's id.
   * Case, spaces, punctuation and what stands in brackets do not count.
   */
  readonly namesElsewhere?: readonly string[];
};

/** Calls that name a person or a group, and no action. */
export type SkippedCall = 'identify' | 'group' | 'alias';

/** Why a platform does not get such a call, unless its kind says otherwise. */
export const standardSkips: Readonly<Record<SkippedCall, string>> = {
  identify: 'the platform has no profiles of people: they travel with each event',
  group: 'the platform has no groups',
  alias: 'the platform has no call that joins two ids',
};

/** A version of a platform's interface. */
export type KindVersion = {
  readonly name: string;
  /** The day after which the platform no longer promises it, `yyyy-mm-dd`; undefined where none is published yet. */
  readonly ends: string | undefined;
};

/** The limits a platform publishes. */
export type KindLimits = {
  /** Events in one request. */
  readonly events: number;
  /** Bytes of one request's body. */
  readonly bytes?: number;
  /** How old an event may be, in days: older ones are refused here, before they are sent. */
  readonly ageDays?: number;
  /** How often it may be asked, in the platform's words. */
  readonly rate?: string;
};
