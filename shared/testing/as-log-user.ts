import { logUsers } from '../nats/users/log-users.ts';
import type { LogUserName } from '../nats/users/log-users.ts';
import { quote, renderAccounts, renderUsers } from '../nats/users/render-users.ts';

// Derived from the user's name, so that a server restarted on the same folder accepts the same clients.
const passwordOf = (user: LogUserName): string => `password-of-${logUsers[user].name}`;

/** The users of a deployment, as configuration for a test's server: each in an account as in production. */
export function testUsersConfig(): string {
  return renderAccounts((user) => quote(passwordOf(user)));
}

/** The same users in one account, as servers had them before accounts were introduced. */
export function testUsersInOneAccountConfig(): string {
  return renderUsers((user) => quote(passwordOf(user)));
}

const scheme = 'nats://';
const loginOf = (user: LogUserName): string => `${logUsers[user].name}:${passwordOf(user)}@`;

/** The address of a test's server with the operator's login, which only the test's own code may use. */
export const asOperator = (url: string): string => url.replace(scheme, `${scheme}${loginOf('operator')}`);

/**
 * The addresses of a test's servers, comma separated, with a service's login in place of the operator's. A service's
 * code must not use other addresses. Addresses without the operator's login, as of servers with `furtherConfig`, stay
 * unchanged.
 */
export function asLogUser(urls: string, user: LogUserName): string {
  return urls.replaceAll(loginOf('operator'), loginOf(user));
}
