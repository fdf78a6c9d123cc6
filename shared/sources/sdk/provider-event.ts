import type { JsonObject } from '../../runtime/json.ts';

/** The fields of one event in a provider's body; absent fields are undefined. */
export type ProviderEvent = {
  /** `identify` carries traits of a visitor and no action. */
  readonly kind: 'track' | 'identify';
  readonly name: string | undefined;
  /** Identical in a repeat of the request, and otherwise unique within the account. */
  readonly id: string | undefined;
  /** In ms since the epoch. */
  readonly timeMs: number | undefined;
  readonly userId: string | undefined;
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  /** Well-known visitor properties by name; null clears one. */
  readonly traits: Readonly<Record<string, string | null>>;
  /** The visitor's custom properties. */
  readonly custom: JsonObject | undefined;
  /** Context: current_url, referrer, utm_* and click ids. */
  readonly context: Readonly<Record<string, string>>;
  /** The end user's IP address, never the provider's. */
  readonly ip: string | undefined;
  readonly userAgent: string | undefined;
  /** The visitor's consent as the sender wrote it. */
  readonly consent: JsonObject | undefined;
  /** The destinations that the sender allows, as in a payload's `integrations`. */
  readonly integrations: JsonObject | undefined;
  /** The event's properties; by default the whole event as received. */
  readonly properties: JsonObject;
};
