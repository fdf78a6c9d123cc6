import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { isThere } from '../machine/is-there.ts';

/** The account in which a server without configured accounts keeps its streams. */
const globalAccount = '$G';

/**
 * Moves the streams of a server that ran without accounts to an account. The server must be stopped, and not a node of
 * a cluster. Returns whether there were streams. Throws EmbeddedServerError if the account already has a folder.
 */
export async function moveToAccount(storeDir: string, account: string): Promise<boolean> {
  const [from, to] = [globalAccount, account].map((name) => join(storeDir, 'jetstream', name));
  if (from === undefined || to === undefined || !(await isThere(join(from, 'streams')))) return false;
  if (await isThere(to)) {
    throw new EmbeddedServerError(
      'start_failed',
      `the log exists twice: in ${from}, where an earlier version wrote, and in ${to}. Move one of them out of ${join(storeDir, 'jetstream')}`,
    );
  }
  await rename(from, to);
  return true;
}
