import type { JsonObject } from '../../runtime/json.ts';

/** The fields of one event in a provider's body, as far as it has them. */
export type ProviderEvent = {
  /** `identify` says something of a visitor, and that nothing happened. */
  readonly kind: 'track' | 'identify';
  readonly name: string | undefined;
  /** The same for a repeat of the request, and for nothing else of this account. */
  readonly id: string | undefined;
  /** In ms since the epoch. */
  readonly timeMs: number | undefined;
  readonly userId: string | undefined;
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  /** Well-known visitor properties by name. */
  readonly traits: Readonly<Record<string, string>>;
  /** The visitor's other properties. */
  readonly custom: JsonObject | undefined;
  /** Where it happened: current_url, referrer, utm_* and click ids. */
  readonly context: Readonly<Record<string, string>>;
  /** The end user's, never the provider's. */
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
  /** All of the event as it came. */
  readonly properties: JsonObject;
};
