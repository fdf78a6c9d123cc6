/** Backoff between attempts: each pause is twice as long as the previous one, up to the longest. */
export type Backoff = { readonly firstMs: number; readonly longestMs: number };

/**
 * The pause after the `tries`-th consecutive failure, counted from 1, in ms. `random` in [0, 1) shortens it by up to
 * half, so that clients that failed together do not retry together.
 */
export function backoffMs({ firstMs, longestMs }: Backoff, tries: number, random: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(tries - 1, 30)) * (1 - random / 2);
}

/** Whether the `attempt`-th consecutive failure is worth a log line: the third, then every 60th. */
export const isWorthTelling = (attempt: number): boolean => attempt === 3 || attempt % 60 === 0;

/** Backoff for a server that has few clients. */
export const defaultBackoff: Backoff = { firstMs: 50, longestMs: 1_000 };

/** Backoff for a server that has many clients at once, such as a full log that a thousand destinations retry. */
export const crowdBackoff: Backoff = { firstMs: 100, longestMs: 5_000 };

export type RetryOptions = {
  /** Ends the tries; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly backoff?: Backoff | undefined;
  /** Whether to try again after the `attempt`-th failure, from 1 on. Otherwise the failure is thrown. */
  isPassing(error: unknown, attempt: number): boolean;
  /** Called before each pause. */
  onRetry?(error: unknown, attempt: number): void;
};

/** Returns the result of `work`. Calls it again, after growing pauses, as long as `isPassing` accepts its failure. */
export async function retry<Result>(
  work: (attempt: number) => Promise<Result>,
  { signal, backoff = defaultBackoff, isPassing, onRetry }: RetryOptions,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work(attempt);
    } catch (error) {
      if (!isPassing(error, attempt)) throw error;
      onRetry?.(error, attempt);
      await pause(backoffMs(backoff, attempt, Math.random()), signal);
    }
  }
}

/** Ends early, without rejecting, when the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal?.aborted === true ? 0 : ms);
    signal?.addEventListener('abort', end);
  });
}
