import { stat } from 'node:fs/promises';

/** Whether the path leads to something. A broken link does not. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
