export type BatchLimits = {
  /** Maximum number of items in one batch. */
  readonly itemsMax: number;
  /** Maximum number of batches that run at the same time. */
  readonly batchesMax: number;
  /** Maximum number of items that wait for a batch. */
  readonly waitingMax: number;
};

/** The limit of waiting calls is reached. */
export class TooManyWaitingError extends Error {
  readonly code = 'too_many_waiting';
}

type Waiting<Item, Result> = {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
};

/**
 * Combines concurrent calls into batches; the results of a batch are in the order of its items. Calls that arrive while
 * all batches run form the next batch. If too many calls wait, rejects further calls with a TooManyWaitingError.
 */
export function batchCalls<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
  { itemsMax, batchesMax, waitingMax }: BatchLimits,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let batches = 0;
  const run = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    batches += 1;
    try {
      const results = await work(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined) reject(new Error('working on a batch: an item has no result'));
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    batches -= 1;
    next();
  };
  const next = (): void => {
    if (waiting.length === 0 || batches >= batchesMax) return;
    void run(waiting.splice(0, itemsMax));
    next();
  };
  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax) {
        reject(new TooManyWaitingError(`${waitingMax} calls wait for a batch`));
        return;
      }
      waiting.push({ item, resolve, reject });
      // Calls of the same turn of the event loop join this batch.
      if (waiting.length === 1) setImmediate(next);
    });
}
