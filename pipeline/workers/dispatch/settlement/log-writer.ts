import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { PublishFailure } from '../../../../shared/nats/publish/publish-answer.ts';
import { PublishError, limitTries, publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import type { OutgoingMessage } from '../../../../shared/nats/publish/publisher.ts';
import { crowdBackoff } from '../../../../shared/runtime/retry.ts';

export type LogWriterOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  /** Ends all tries when the dispatcher ends. */
  readonly signal: AbortSignal;
  onRetry(reason: PublishFailure, tries: number): void;
};

/**
 * Maximum number of tries after failures other than a full stream: with their pauses they take at least a minute and a
 * half.
 */
const othersMax = 24;

/** Writes messages of one kind until the log has stored them, or has refused them repeatedly. */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #fullMax: number;
  #isRefused = false;

  /** `fullMax`: maximum number of tries while the stream is full. */
  constructor(options: LogWriterOptions, fullMax: number) {
    this.#options = options;
    this.#fullMax = fullMax;
  }

  /** Call when the log has accepted another message. */
  accepted(): void {
    this.#isRefused = false;
  }

  /** Returns the sequence of the message; undefined if the log refused it. Rejects if the dispatcher ends first. */
  async write(message: OutgoingMessage): Promise<number | undefined> {
    const { connection, signal, onRetry } = this.#options;
    // After a refusal, each message is tried only once: otherwise each waiting message would take all tries, one after
    // the other.
    const limits = this.#isRefused ? { fullMax: 1, othersMax: 1 } : { fullMax: this.#fullMax, othersMax };
    const policy = { signal, onRetry, backoff: crowdBackoff, mayTry: limitTries(limits) };
    try {
      const { seq } = await publishWithRetry(connection, message, policy);
      this.#isRefused = false;
      return seq;
    } catch (error) {
      if (!(error instanceof PublishError)) throw error;
      // If only this message is too large, the log accepts others.
      if (error.reason !== 'too_large') this.#isRefused = true;
      return undefined;
    }
  }
}
