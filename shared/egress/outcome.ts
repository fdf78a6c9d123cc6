/** What a request meant for one of the events it carried. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** Taken, and thrown away by a rule of the platform's own, such as one against robots: no failure, and nothing to mend. */
  | { readonly kind: 'dropped'; readonly reason: string }
  /**
   * Worth another attempt, not before `afterMs` where the platform said so. `isThrottled` where it says that it is asked
   * more than it takes: then it is asked less at a time. The sender sees that by itself in a status of 429. `refusesAccess`
   * where it refuses the destination and not the event, whose key or token has ended or lacks a right: the destination is
   * held, tried again now and then, and its events wait. A status of 401 or 403 says so by itself.
   */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly afterMs?: number;
      readonly isThrottled?: true;
      readonly refusesAccess?: true;
    }
  /** Never going to be taken as it is. */
  | { readonly kind: 'reject'; readonly reason: string };
