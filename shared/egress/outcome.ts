/** Result of a request for one of its events. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Accepted, and dropped by a rule of the platform, such as one against robots: no failure, and nothing to fix. */
  | { readonly kind: 'dropped'; readonly reason: string }
  /**
   * Worth a retry, not before `afterMs` if the platform named a time. `isThrottled`: the platform limits the rate, so the
   * sender reduces its concurrency; it detects a status of 429 itself. `refusesAccess`: the platform refuses the
   * destination, not the event, because its key or token expired or lacks a right: the destination is paused and retried
   * now and then, and its events wait. A status of 401 or 403 implies it.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly isThrottled?: true;
      readonly refusesAccess?: true;
    }
  /** The platform will never accept it as it is. */
  | { readonly kind: 'reject'; readonly reason: string };
