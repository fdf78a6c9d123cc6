import type { RoundBudget } from './round-budget.ts';

/**
 * Calls `take` while the account has units left in this round of the thread, and spends the units of what it returns.
 * If none are left, it returns undefined, and the dispatcher is woken when it is the account's turn in a later round.
 */
export function paced<Of, Args extends readonly unknown[]>(
  budget: Pick<RoundBudget, 'mayWork' | 'wait' | 'spend'>,
  take: (...args: Args) => Of | undefined,
  unitsOf?: (taken: Of) => number,
): (...args: Args) => Of | undefined {
  return (...args) => {
    if (!budget.mayWork()) {
      budget.wait();
      return undefined;
    }
    const taken = take(...args);
    if (taken !== undefined && unitsOf !== undefined) budget.spend(unitsOf(taken));
    return taken;
  };
}
