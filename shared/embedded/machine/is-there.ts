import { stat } from 'node:fs/promises';

/** Whether the path exists. False for a broken link. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
