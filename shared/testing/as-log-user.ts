import { logUsers } from '../nats/users/log-users.ts';
import type { LogUserName } from '../nats/users/log-users.ts';
import { quote, renderAccounts, renderUsers } from '../nats/users/render-users.ts';

// Known beforehand, so that a server that is started again on the same folder lets the same clients in.
const passwordOf = (user: LogUserName): string => `password-of-${logUsers[user].name}`;

/** The users of a test's server, each in its account: those of a deployment. */
export function testUsersConfig(): string {
  return renderAccounts((user) => quote(passwordOf(user)));
}

/** The same users in one account: what servers had before accounts. */
export function testUsersInOneAccountConfig(): string {
  return renderUsers((user) => quote(passwordOf(user)));
}

const scheme = 'nats://';
const loginOf = (user: LogUserName): string => `${logUsers[user].name}:${passwordOf(user)}@`;

/** The address of a test's server with the operator's login, which is for what the test itself looks at and does. */
export const asOperator = (url: string): string => url.replace(scheme, `${scheme}${loginOf('operator')}`);

/**
 * The addresses of a test's servers, comma separated, with a service's login in place of the operator's. Code of a service
 * runs with no other. Addresses without the operator's login, of servers with users of their own, stay as they are.
 */
export function asLogUser(urls: string, user: LogUserName): string {
  return urls.replaceAll(loginOf('operator'), loginOf(user));
}
