import type { RoundBudget } from './round-budget.ts';

/**
 * Calls `take` while the account has units left in this round of the thread. If none are left, it returns undefined,
 * and the dispatcher is woken when it is the account's turn in a later round.
 */
export function paced<Of, Args extends readonly unknown[]>(
  budget: Pick<RoundBudget, 'mayWork' | 'wait'>,
  take: (...args: Args) => Of | undefined,
): (...args: Args) => Of | undefined {
  return (...args) => {
    if (budget.mayWork()) return take(...args);
    budget.wait();
    return undefined;
  };
}
