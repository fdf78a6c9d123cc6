import type { Exchange } from '../../http/exchange.ts';

/** Values of flags by key: the name of a variant, or false. */
export type FlagValues = Readonly<Record<string, string | false>>;

export type FlagsQuery = {
  readonly token: string;
  readonly visitorId: string;
  /** Undefined: all flags. */
  readonly keys: readonly string[] | undefined;
};

/** Requests the flags of a visitor; undefined if they cannot be computed now. Never rejects. */
export type AskFlags = (exchange: Exchange, query: FlagsQuery) => Promise<FlagValues | undefined>;

/** Flags in the form of each version of `/flags` and `/decide` (posthog.com/docs/api/flags). */
export type FlagsForm = {
  /** Names of the flags that are on: version 1 of `/decide`. */
  readonly names: readonly string[];
  /** Flags that are on, with their values: version 2 of `/decide`. */
  readonly enabled: FlagValues;
  /** All flags with their values: version 1 of `/flags`, version 3 of `/decide`. */
  readonly values: object;
  /** Each flag with its value and further details: later versions of both. */
  readonly details: object;
};

/** `found` is undefined if the flags could not be computed: libraries then keep their current values. */
export function formFlags(found: FlagValues | undefined): FlagsForm {
  const all = found ?? {};
  const enabled = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== false));
  const values = { featureFlags: all, featureFlagPayloads: {}, errorsWhileComputingFlags: found === undefined };
  const flags = Object.fromEntries(Object.entries(all).map(([key, value]) => [key, detailsOf(key, value)]));
  return { names: Object.keys(enabled), enabled, values, details: { ...values, flags } };
}

function detailsOf(key: string, value: string | false): object {
  // PostHog's library for Android requires numbers, which experiments lack.
  const metadata = { id: 0, version: 1 };
  if (value === false) {
    const reason = { code: 'no_condition_match', description: 'The visitor is not in the experiment' };
    return { key, enabled: false, reason, metadata };
  }
  const reason = { code: 'condition_match', description: 'The visitor is in the experiment', condition_index: 0 };
  return { key, enabled: true, variant: value, reason, metadata };
}
