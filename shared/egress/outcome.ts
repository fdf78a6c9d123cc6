/** Result of a request for one of its events. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Accepted, then dropped by a platform rule, such as a robot filter. Not an error; there is nothing to fix. */
  | { readonly kind: 'dropped'; readonly reason: string }
  /**
   * Worth a retry, after `afterMs` at the earliest if the platform named a time. `isThrottled`: the platform limits the
   * rate, so the dispatcher reduces its concurrency, as after status 429. `refusesAccess`: the platform refuses the
   * destination, not the event, because the destination's key or token expired or lacks a permission. The destination
   * is then paused and retried now and then, while its events wait; status 401 or 403 has the same effect.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly isThrottled?: true;
      readonly refusesAccess?: true;
    }
  /** The platform will never accept the event unchanged. */
  | { readonly kind: 'reject'; readonly reason: string };
