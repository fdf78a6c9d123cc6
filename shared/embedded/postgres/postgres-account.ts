import { readFile, stat } from 'node:fs/promises';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import type { Account } from './reachability.ts';

// In order of preference. All of them exist for running something with few rights.
const candidates = ['postgres', 'nobody', 'daemon'];

/**
 * The ordinary account PostgreSQL must run as when this process is root, which PostgreSQL refuses to be; undefined for
 * everyone else, who run it as themselves. Data that exist already keep the account that owns them.
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

/** The first candidate there is that is not root under another name. */
export function pickAccount(accounts: readonly Account[]): Account | undefined {
  return candidates
    .map((name) => accounts.find((account) => account.name === name && account.uid !== 0))
    .find((account) => account !== undefined);
}

/** The accounts of a passwd file: `name:password:uid:gid:…` a line. */
export function parsePasswd(text: string): Account[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    const isWhole = name !== undefined && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '');
    return isWhole ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
