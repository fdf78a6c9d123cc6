import type { AccountShare } from './account-shares.ts';

/**
 * Takes from a source as long as its account has units left in this round of the thread. Then it returns undefined, and
 * the account's turn in a later round wakes the dispatcher.
 */
export function paced<Of, Args extends readonly unknown[]>(
  share: Pick<AccountShare, 'mayWork' | 'wait'>,
  take: (...args: Args) => Of | undefined,
): (...args: Args) => Of | undefined {
  return (...args) => {
    if (share.mayWork()) return take(...args);
    share.wait();
    return undefined;
  };
}
