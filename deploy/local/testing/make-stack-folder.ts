import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A fresh folder for the data of a stack. The user of PostgreSQL may traverse it: else root's would put the data
 * elsewhere, where removing the folder would leave them.
 */
export async function makeStackFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stack-'));
  await chmod(folder, 0o711);
  return folder;
}
