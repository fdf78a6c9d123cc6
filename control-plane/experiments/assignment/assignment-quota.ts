import { LRUCache } from 'lru-cache';

/** Number of assignments that each account has stored: counted at intervals, and updated in between. */
export type AssignmentQuota = {
  /**
   * Whether the account may store another assignment. Waits for the first count of an account. Later counts run in the
   * background, because they take longer the more assignments there are.
   */
  hasRoom(accountId: string): Promise<boolean>;
  noteStored(accountId: string): void;
  /** Assignments that were returned and not stored, since the start. */
  readonly unstored: number;
};

export type AssignmentQuotaOptions = {
  readonly assignmentsMax: number;
  /** Counts the account's assignments, up to `assignmentsMax`. */
  count(accountId: string): Promise<number>;
  nowMs(): number;
};

type Counted = { assignments: number; readonly countedAtMs: number };

const accountsRemembered = 10_000;
/** A count is used this long, because other instances store assignments too, and erasures remove some. */
const countedForMs = 600_000;

export function createAssignmentQuota({ assignmentsMax, count, nowMs }: AssignmentQuotaOptions): AssignmentQuota {
  const known = new LRUCache<string, Counted>({ max: accountsRemembered });
  const counting = new Map<string, Promise<Counted>>();
  let unstored = 0;
  const recount = (accountId: string): Promise<Counted> => {
    const underWay = counting.get(accountId);
    if (underWay !== undefined) return underWay;
    const counted = count(accountId)
      .then((assignments) => {
        const found = { assignments, countedAtMs: nowMs() };
        known.set(accountId, found);
        return found;
      })
      .finally(() => counting.delete(accountId));
    counting.set(accountId, counted);
    return counted;
  };
  return {
    get unstored() {
      return unstored;
    },
    async hasRoom(accountId) {
      const last = known.get(accountId);
      // A failed count is repeated at the next request.
      if (last !== undefined && nowMs() - last.countedAtMs >= countedForMs) void recount(accountId).catch(ignore);
      const { assignments } = last ?? (await recount(accountId));
      if (assignments < assignmentsMax) return true;
      unstored += 1;
      return false;
    },
    noteStored(accountId) {
      const counted = known.get(accountId);
      if (counted !== undefined) counted.assignments += 1;
    },
  };
}

function ignore(): void {}
