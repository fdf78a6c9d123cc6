import { useSyncExternalStore } from 'react';
import type { SignedIn } from './types.ts';

/** The accounts that this browser's session is signed in to. */
export type Accounts = {
  /** Undefined until the session has been read. */
  readonly all: readonly SignedIn[] | undefined;
  readonly current: SignedIn | undefined;
  /** Label of the single sign-on button; null without single sign-on. */
  readonly singleSignOn: string | null;
};

const chosenKey = 'sluice.account';

let accounts: Accounts = { all: undefined, current: undefined, singleSignOn: null };
const listeners = new Set<() => void>();

export function readAccounts(): Accounts {
  return accounts;
}

/** The accounts that this browser is signed in to, and the account shown. Follows changes. */
export function useAccounts(): Accounts {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readAccounts);
}

/** Scopes for the whole installation. `all` covers one account and does not include them. */
const ofInstallation: ReadonlySet<string> = new Set(['system:find']);

/** Whether `scopes` contain `scope`, or contain `all`, which grants every scope of one account. */
export function hasScope(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scopes.includes('all') && !ofInstallation.has(scope));
}

/** Whether the signed-in key or user has the scope. */
export function useScope(scope: string): boolean {
  const { current } = useAccounts();
  return current !== undefined && hasScope(current.scopes, scope);
}

/** Switches the console to an account, also for later visits. */
export function chooseAccount(accountId: string): void {
  localStorage.setItem(chosenKey, accountId);
  replaceAccounts(accounts.all ?? []);
}

export function offerSingleSignOn(singleSignOn: string | null): void {
  accounts = { ...accounts, singleSignOn };
}

export function removeAccount(accountId: string): void {
  replaceAccounts((accounts.all ?? []).filter((account) => account.accountId !== accountId));
}

/** Shows the accounts of a session as the API listed them last. */
export function replaceAccounts(all: readonly SignedIn[]): void {
  const chosen = localStorage.getItem(chosenKey);
  accounts = { ...accounts, all, current: all.find(({ accountId }) => accountId === chosen) ?? all[0] };
  for (const listener of listeners) listener();
}
