/** Result of a request for one of its events. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Accepted, then dropped by a platform rule, such as a robot filter: not an error, nothing to fix. */
  | { readonly kind: 'dropped'; readonly reason: string }
  /**
   * Worth a retry, not before `afterMs` if the platform named a time. `isThrottled`: the platform limits the rate, so
   * the sender reduces its concurrency; it detects status 429 itself. `refusesAccess`: the platform refuses the
   * destination, not the event, because its key or token expired or lacks a permission: the destination is paused and
   * retried now and then, and its events wait. Status 401 or 403 implies it.
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
