import type { RoundBudget } from './round-budget.ts';

/**
 * Takes from a source while its account has units left in this round of the thread. Then it returns undefined, and the
 * account's turn in a later round wakes the dispatcher.
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
