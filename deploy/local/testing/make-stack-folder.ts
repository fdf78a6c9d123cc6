import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a folder for the data of a stack. Other users may enter it, because a PostgreSQL started by root runs as
 * another user: it would otherwise store its data elsewhere, and removing the folder would leave that.
 */
export async function makeStackFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stack-'));
  await chmod(folder, 0o711);
  return folder;
}
