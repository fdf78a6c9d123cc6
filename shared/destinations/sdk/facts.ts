import type { GoogleConsentType } from '../../contracts/events/consent-words.ts';

/**
 * Facts about a platform, declared once beside its kind. The generated page of kinds, the scripted
 * platform and the contract test use them.
 */
export type KindFacts = {
  /** The content that is sent, in a few words. */
  readonly sends: string;
  readonly limits: KindLimits;
  /**
   * The field that the platform deduplicates by; undefined if it counts a repeated event twice.
   */
  readonly deduplicatesBy: string | undefined;
  /** How the platform reports refused events and reasons. */
  readonly errors: string;
  /**
   * How limited use is sent, in the platform's terms; undefined if the platform has no limited use or is not for
   * advertising.
   */
  readonly limitedUse?: string;
  /** Google's consent types that requests carry, under the names in an event's `consent` property. */
  readonly consentTypes?: readonly GoogleConsentType[];
  /** Pages of the platform that state these facts; open-source implementations if the platform publishes none. */
  readonly sources: readonly [string, ...string[]];
  /** Date of the last comparison with the sources, `yyyy-mm-dd`. */
  readonly checked: string;
  /** API version of the requests, if the platform has versions. */
  readonly version: KindVersion | 'unversioned';
  /**
   * Why the kind skips identify, group or alias calls, in a few words, if the reason differs from
   * `standardSkips`.
   */
  readonly skips?: Readonly<Partial<Record<SkippedCall, string>>>;
  /**
   * What users of other integrations may expect and the kind does not send: one clause per item, with a
   * reason or an alternative.
   */
  readonly notCarried?: readonly string[];
  /**
   * Current and former names of the platform in `integrations` of Segment and RudderStack, if they
   * differ from the kind's id. Case, spaces, punctuation and bracketed text are ignored.
   */
  readonly namesElsewhere?: readonly string[];
};

/** A call that describes a person or group and is not an action of the visitor. */
export type SkippedCall = 'identify' | 'group' | 'alias';

/** The default reason why a platform does not receive such a call. */
export const standardSkips: Readonly<Record<SkippedCall, string>> = {
  identify: 'the platform has no user profiles: traits are sent with each event',
  group: 'the platform has no groups',
  alias: 'the platform cannot join two ids',
};

/** A version of a platform's interface. */
export type KindVersion = {
  readonly name: string;
  /** The published end of support, `yyyy-mm-dd`; undefined if there is none yet. */
  readonly ends: string | undefined;
};

/** Published limits of a platform. */
export type KindLimits = {
  /** Events in one request. */
  readonly events: number;
  /** Bytes of a request body. */
  readonly bytes?: number;
  /** Maximum event age in days; older events are refused before sending. */
  readonly ageDays?: number;
  /** The rate limit, in the platform's words. */
  readonly rate?: string;
};
