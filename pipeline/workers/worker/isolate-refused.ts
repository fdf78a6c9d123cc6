import { isRefusedValue } from '../../../shared/postgres/database-failure.ts';

/**
 * Writes a batch. If the database permanently refuses a value, the batch is halved until the item with that value is
 * found: only this item is left out, and passed to `onRefused`. Throws any other failure.
 */
export async function isolateRefused<Item>(
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<void>,
  onRefused: (item: Item, error: Error) => void,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  try {
    await write(items);
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    if (items.length === 1) return onRefused(first, error);
    const middle = Math.ceil(items.length / 2);
    await isolateRefused(items.slice(0, middle), write, onRefused);
    await isolateRefused(items.slice(middle), write, onRefused);
  }
}

/** Log fields of a database failure; without the message if a value was refused, which the message may quote. */
export function failureFields(error: unknown): { readonly code?: string; readonly reason: string } {
  if (!(error instanceof Error)) return { reason: 'unknown' };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { ...code, reason: isRefusedValue(error) ? 'value refused' : error.message };
}
