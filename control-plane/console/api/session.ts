import { offerSingleSignOn, replaceAccounts } from './accounts.ts';
import { request } from './request.ts';
import type { SignedIn } from './types.ts';

type Session = { readonly accounts: readonly SignedIn[]; readonly singleSignOn: string | null };

/** Restores this browser's session, if there is one. */
export async function resumeSession(): Promise<void> {
  const { accounts, singleSignOn } = await request<Session>('GET', '/session');
  offerSingleSignOn(singleSignOn);
  replaceAccounts(accounts);
}

/** Signs this browser in with a key, until it signs out or the session ends. */
export async function signIn(key: string): Promise<void> {
  replaceAccounts((await request<Session>('POST', '/session', { key })).accounts);
}

/** Opens the single sign-on provider, which sends the browser back. */
export async function goToSingleSignOn(): Promise<void> {
  const { url } = await request<{ readonly url: string }>('POST', '/session/single-sign-on');
  location.assign(url);
}

/** Signs in with the code of a link, which works once. */
export async function redeemLink(code: string): Promise<void> {
  replaceAccounts((await request<Session>('POST', '/session/redeem', { code })).accounts);
}

/** Signs this browser out or, with `everywhere`, every browser that is signed in with the same key or user. */
export async function signOut({ accountId }: SignedIn, everywhere = false): Promise<void> {
  const query = everywhere ? '?everywhere=true' : '';
  replaceAccounts((await request<Session>('DELETE', `/session/${accountId}${query}`)).accounts);
}
