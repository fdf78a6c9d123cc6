import { setTimeout as wait } from 'node:timers/promises';

export type PersistOptions = {
  /** Ends the trying: the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Whether the failure may pass. Any other is thrown. */
  isPassing(error: unknown): boolean;
  onRetry(error: unknown, attempt: number): void;
};

const delayFirstMs = 50;
const delayMaxMs = 1_000;

/** Does the work, again and again while its failures may pass, with growing pauses. Never gives up by itself. */
export async function persist<Result>(
  work: (attempt: number) => Promise<Result>,
  options: PersistOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    options.signal.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (!options.isPassing(error)) throw error;
      options.onRetry(error, attempt);
      const delayMs = Math.min(delayMaxMs, delayFirstMs * 2 ** Math.min(attempt - 1, 10));
      await wait(delayMs * (0.5 + Math.random() / 2), undefined, { signal: options.signal });
    }
  }
}
