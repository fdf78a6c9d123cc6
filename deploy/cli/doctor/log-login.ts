import { readStackFolder } from '../../../shared/command-line/local-stack.ts';
import { hasLogin, logAccess } from '../../../shared/nats/connection/log-access.ts';
import type { LogAccess } from '../../../shared/nats/connection/log-access.ts';
import { logUsers } from '../../../shared/nats/users/log-users.ts';
import type { LogUserName } from '../../../shared/nats/users/log-users.ts';
import { readPasswords } from '../../local/passwords.ts';

const loopback = /^(?:[a-z]+:\/\/)?(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?$/;

type LogLoginVariables = Parameters<typeof logAccess>[0] & Parameters<typeof readStackFolder>[0];

/**
 * How a command logs in to the log. If the environment has no login and the log is on this machine, the login is the
 * one that the local stack in SLUICE_DIR created for `user`; a server without users ignores it.
 */
export async function commandLogAccess(env: LogLoginVariables, user: LogUserName): Promise<LogAccess> {
  const access = logAccess(env);
  const isHere = access.url.split(',').every((address) => loopback.test(address.trim()));
  if (hasLogin(access) || !isHere) return access;
  const password = (await readPasswords(readStackFolder(env)))?.log?.[user];
  if (password === undefined) return access;
  return { ...access, login: { kind: 'password', user: logUsers[user].name, password } };
}
