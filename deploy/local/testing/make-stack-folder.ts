import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh folder for the data of a stack. The user of PostgreSQL may enter it: otherwise, when run as root, PostgreSQL
 * would store its data elsewhere, and removing the folder would not remove it.
 */
export async function makeStackFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stack-'));
  await chmod(folder, 0o711);
  return folder;
}
