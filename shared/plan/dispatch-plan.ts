import type { AccountConfig } from '../config/account-config.ts';
import type { ResolvedEvent } from '../events/resolved-event.ts';
import type { JsonObject } from '../process/json.ts';
import { compileAllowedEvents } from './allowed-events.ts';
import type { PublishedDestination } from './published-destinations.ts';

/** What is to become of one event at one destination. */
export type Decision =
  /** Not for this destination: no dispatch, not counted in health. */
  | { readonly kind: 'skip'; readonly rule: SkipRule }
  /** A mapping rule stopped it. */
  | { readonly kind: 'stop' }
  /** An account-wide dispatch rule stopped it. */
  | { readonly kind: 'global-stop' }
  | { readonly kind: 'send'; readonly mapped?: { readonly eventName: string; readonly properties: JsonObject } };

export type SkipRule = 'test' | 'not_allowed' | 'disabled' | 'source';

/** What a dispatcher needs of its account's live version, compiled once a revision. */
export type DispatchPlan = {
  readonly destination: PublishedDestination;
  decide(event: ResolvedEvent): Decision;
};

const send: Decision = { kind: 'send' };
const skips: Readonly<Record<SkipRule, Decision>> = {
  test: { kind: 'skip', rule: 'test' },
  not_allowed: { kind: 'skip', rule: 'not_allowed' },
  disabled: { kind: 'skip', rule: 'disabled' },
  source: { kind: 'skip', rule: 'source' },
};

/** Compiles the rules that decide whether an event reaches this destination, in the order they apply. */
export function compileDispatchPlan(config: AccountConfig, destination: PublishedDestination): DispatchPlan {
  const { isEnabled, limitedToSourceIds } = destination;
  const isAllowed = compileAllowedEvents(config.collections.allowedEvents, destination.id);
  return {
    destination,
    decide({ event }) {
      if (event.test) return skips.test;
      if (!isAllowed(event.event)) return skips.not_allowed;
      if (!isEnabled) return skips.disabled;
      if (limitedToSourceIds !== undefined && !limitedToSourceIds.has(event.source_id)) return skips.source;
      return send;
    },
  };
}
