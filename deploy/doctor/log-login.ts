import { resolve } from 'node:path';
import { hasLogin, logAccess } from '../../shared/nats/connection/log-access.ts';
import type { LogAccess } from '../../shared/nats/connection/log-access.ts';
import { logUsers } from '../../shared/nats/users/log-users.ts';
import { readPasswords } from '../local/passwords.ts';
import type { DoctorEnv } from './env.ts';

const loopback = /^(?:[a-z]+:\/\/)?(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?$/;

/**
 * How the doctor reaches the log. Where the environment says no login and the log is on this machine, it is the one that
 * the local stack in SLUICE_DIR has made for the doctor: to a server without users it makes no difference.
 */
export async function doctorLogAccess(env: DoctorEnv): Promise<LogAccess> {
  const access = logAccess(env);
  const isHere = access.url.split(',').every((address) => loopback.test(address.trim()));
  if (hasLogin(access) || !isHere) return access;
  const password = (await readPasswords(resolve(env.SLUICE_DIR)))?.log?.doctor;
  if (password === undefined) return access;
  return { ...access, login: { kind: 'password', user: logUsers.doctor.name, password } };
}
