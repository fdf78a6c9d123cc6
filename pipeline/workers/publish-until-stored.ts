import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { PublishError, publish } from '../../shared/nats/publish/publisher.ts';
import type { PublishFailure } from '../../shared/nats/publish/publish-answer.ts';

export type StoreOptions = {
  readonly msgId: string;
  /** Ends the tries; the promise then rejects. */
  readonly signal: AbortSignal;
  onRetry(reason: PublishFailure, tries: number): void;
};

const timeoutMs = 5_000;
const waitMinMs = 100;
const waitMaxMs = 5_000;

/** Publishes until the log has taken the message, however long it is full or away. Returns its sequence. */
export async function publishUntilStored(
  connection: LogConnection,
  subject: string,
  payload: Uint8Array,
  options: StoreOptions,
): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    options.signal.throwIfAborted();
    try {
      const { seq } = await publish(connection, subject, payload, { msgId: options.msgId, timeoutMs });
      return seq;
    } catch (error) {
      if (!(error instanceof PublishError)) throw error;
      options.onRetry(error.reason, tries);
      await wait(Math.min(waitMinMs * 2 ** (tries - 1), waitMaxMs), options.signal);
    }
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
