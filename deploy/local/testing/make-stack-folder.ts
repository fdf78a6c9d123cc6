import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Creates a folder for the data of a stack. Other users may enter it: a PostgreSQL started by root runs as another
 * user, and would otherwise store its data in another folder that is not removed with this one.
 */
export async function makeStackFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stack-'));
  await chmod(folder, 0o711);
  return folder;
}
