import { useSyncExternalStore } from 'react';
import type { SignedIn } from './types.ts';

/** The accounts that this browser's session is signed in to. */
export type Accounts = {
  /** Undefined until the browser's session was asked for. */
  readonly all: readonly SignedIn[] | undefined;
  readonly current: SignedIn | undefined;
  /** What the button for single sign-on says; null: there is none. */
  readonly singleSignOn: string | null;
};

const chosenKey = 'sluice.account';

let accounts: Accounts = { all: undefined, current: undefined, singleSignOn: null };
const listeners = new Set<() => void>();

export function readAccounts(): Accounts {
  return accounts;
}

/** Who is signed in, and whose account is shown. */
export function useAccounts(): Accounts {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readAccounts);
}

/** What `all`, which is all of one account, does not stand for. */
const ofInstallation: ReadonlySet<string> = new Set(['system:find']);

/** Whether a key or user with these scopes may do what needs `scope`. */
export function hasScope(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scopes.includes('all') && !ofInstallation.has(scope));
}

/** The same of who is signed in to the account shown. */
export function useScope(scope: string): boolean {
  const { current } = useAccounts();
  return current !== undefined && hasScope(current.scopes, scope);
}

/** Shows an account; the next visit shows it, too. */
export function chooseAccount(accountId: string): void {
  localStorage.setItem(chosenKey, accountId);
  set(accounts.all ?? []);
}

/** Adds accounts and replaces those with the same id. */
export function addAccounts(added: readonly SignedIn[]): void {
  const ids = new Set(added.map(({ accountId }) => accountId));
  set([...(accounts.all ?? []).filter(({ accountId }) => !ids.has(accountId)), ...added]);
}

export function offerSingleSignOn(singleSignOn: string | null): void {
  accounts = { ...accounts, singleSignOn };
}

export function removeAccount(accountId: string): void {
  set((accounts.all ?? []).filter((account) => account.accountId !== accountId));
}

function set(all: readonly SignedIn[]): void {
  const chosen = localStorage.getItem(chosenKey);
  accounts = { ...accounts, all, current: all.find(({ accountId }) => accountId === chosen) ?? all[0] };
  for (const listener of listeners) listener();
}
