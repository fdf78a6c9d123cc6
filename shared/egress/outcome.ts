/** Result of a request for one of its events. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Accepted, then dropped by a platform rule, such as a robot filter. Not an error; there is nothing to fix. */
  | { readonly kind: 'dropped'; readonly reason: string }
  /**
   * Worth a retry, after `afterMs` at the earliest if the platform named a time. `isThrottled`: the platform limits the
   * rate, so the dispatcher reduces its concurrency, as after a 429 that the kind does not read. `refusesAccess`: the
   * platform refuses the destination, not the event, because the destination's key or token expired or lacks a
   * permission. The destination is then paused and retried now and then, while its events wait; status 401 or 403 has
   * the same effect.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly isThrottled?: true;
      readonly refusesAccess?: true;
      readonly unnamed?: Unnamed;
    }
  /** The platform will never accept the event unchanged. */
  | { readonly kind: 'reject'; readonly reason: string; readonly unnamed?: Unnamed };

/**
 * The response does not say which events it refuses: `some`, while it accepts the others, or `any`, which may be all.
 * If a request of several events has this outcome, the dispatcher sends its events again in smaller requests, so the
 * platform may receive accepted events twice. The outcome is final for an event that is alone in its request. If other
 * events of the request have another outcome, that one is final for them, and the unnamed events are sent again at once.
 */
export type Unnamed = 'some' | 'any';
