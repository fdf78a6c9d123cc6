import { addAccounts, removeAccount } from './accounts.ts';
import type { SignedInAccount } from './accounts.ts';
import { request, RequestError } from './request.ts';
import type { SignedIn } from './types.ts';

type Session = { readonly accounts: readonly SignedIn[] };

/** Takes up the session this browser has, if it has one. */
export async function resumeSession(): Promise<void> {
  addAccounts((await request<Session>('GET', '/session')).accounts);
}

/** Signs in with a key: for as long as this page is open or, if asked to, until the browser's session ends. */
export async function signIn(key: string, isKept: boolean): Promise<void> {
  if (isKept) {
    addAccounts((await request<Session>('POST', '/session', { key })).accounts);
    return;
  }
  const answer = await fetch('/rest/v1/me', { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new RequestError(answer.status, 'This is not a valid API key.', undefined);
  addAccounts([{ ...((await answer.json()) as SignedIn), key }]);
}

/** Signs in with the code of a link, which then works no more. */
export async function redeemLink(code: string): Promise<void> {
  addAccounts((await request<Session>('POST', '/session/redeem', { code })).accounts);
}

/** Signs this browser out or, with `everywhere`, every browser that is signed in with the same key. */
export async function signOut(account: SignedInAccount, everywhere = false): Promise<void> {
  const query = everywhere ? '?everywhere=true' : '';
  if (account.key === undefined) await request('DELETE', `/session/${account.accountId}${query}`);
  removeAccount(account.accountId);
}
