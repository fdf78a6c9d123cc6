import { readFile, stat } from 'node:fs/promises';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import type { Account } from './reachability.ts';

// Accounts that exist to run programs with few rights, in order of preference.
const candidates = ['postgres', 'nobody', 'daemon'];

/**
 * The account that PostgreSQL runs as if this process is root, because PostgreSQL refuses to run as root. Undefined if
 * this process is not root; PostgreSQL then runs as the process's own account. Existing data keep the account that owns
 * them. Throws EmbeddedServerError if root finds no suitable account.
 */
export async function choosePostgresAccount(clusterDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const accounts = parsePasswd(await readFile('/etc/passwd', 'utf8'));
  const owner = await stat(clusterDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) {
    const known = accounts.find((account) => account.uid === owner.uid);
    return known ?? { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  }
  const account = pickAccount(accounts);
  if (account === undefined) {
    throw new EmbeddedServerError(
      'start_failed',
      `PostgreSQL does not run as root, and none of the accounts ${candidates.join(', ')} exists here; ` +
        'start as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own',
    );
  }
  return account;
}

/** The first candidate that exists and is not root under another name. */
export function pickAccount(accounts: readonly Account[]): Account | undefined {
  return candidates
    .map((name) => accounts.find((account) => account.name === name && account.uid !== 0))
    .find((account) => account !== undefined);
}

/** The accounts of a passwd file, whose lines are `name:password:uid:gid:…`. */
export function parsePasswd(text: string): Account[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const isWhole = name !== undefined && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '');
    return isWhole ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
