import { createHash } from 'node:crypto';
import { encodeDeadLetter, encodeUnreadable } from '../../../../shared/contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { batchMessagesMin, publishBatch } from '../../../../shared/nats/publish/publish-batch.ts';
import { PublishError } from '../../../../shared/nats/publish/publisher.ts';
import { deadLetterSubject } from '../../../../shared/contracts/subjects.ts';
import { LogWriter } from './log-writer.ts';
import type { LogWriterOptions } from './log-writer.ts';

/** A full stream is given more time than it takes retention to make room there. */
const triesWhileFull = 10;
const batchTimeoutMs = 5_000;
/** What stands in a message beside the bytes that could not be read, at most. */
const headBytesMax = 4_096;
const lettersAtOnceMax = 256;
const bytesAtOnceMax = 4 * 1024 ** 2;

type Waiting = {
  readonly payload: Uint8Array;
  readonly msgId: string;
  resolve(isStored: boolean | Promise<boolean>): void;
};

/**
 * Keeps what a destination will not take, with the reason. Each letter is a message, so that it can be looked at and
 * removed by itself. Those of a destination that refuses all it gets come by the hundred: those that wait meanwhile are stored
 * in one batch.
 */
export class DeadLetterWriter {
  readonly #options: LogWriterOptions;
  readonly #subject: string;
  readonly #waiting: Waiting[] = [];
  readonly #writer: LogWriter;
  #isDraining = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#writer = new LogWriter(options, triesWhileFull);
    this.#subject = deadLetterSubject(options.destinationId);
  }

  /**
   * Settles once the log has it, or has refused it again and again: whether it has it. Rejects when the dispatcher ended
   * before that. `readFrom` is the line that the event was read from: one that is read again, and ends so again, is kept
   * once.
   */
  add(
    letter: Omit<DeadLetter, 'v' | 'destinationId' | 'event'> & { readonly event: string },
    eventId: string,
    readFrom: string,
  ): Promise<boolean> {
    const { destinationId } = this.#options;
    const payload = encodeDeadLetter({ v: 1, destinationId, ...letter });
    return this.#store(payload, `${readFrom}\n${eventId}\n${letter.attempts}`);
  }

  /** Keeps bytes of the log this build cannot read, as many as fit into a message; settles as `add` does. */
  addUnreadable(data: Uint8Array, reason: string): Promise<boolean> {
    const { destinationId, connection } = this.#options;
    // As text that stands for bytes it takes a third more. What does not fit would be tried for ever.
    const bytesMax = Math.floor(((connection.messageBytesMax - headBytesMax) * 3) / 4);
    const isCut = data.length > bytesMax;
    const kept = encodeUnreadable(destinationId, isCut ? `${reason} (cut)` : reason, data.subarray(0, bytesMax));
    return this.#store(kept, createHash('sha256').update(data).digest('base64url'));
  }

  #store(payload: Uint8Array, identity: string): Promise<boolean> {
    const named = `dead\n${this.#options.destinationId}\n${identity}`;
    const msgId = createHash('sha256').update(named).digest('base64url');
    return new Promise((resolve) => {
      this.#waiting.push({ payload, msgId, resolve });
      if (!this.#isDraining) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    // Letters that are added in one go are stored in one go.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#storeLetters(takeLetters(this.#waiting));
    this.#isDraining = false;
  }

  /** Settles each of them; never rejects. */
  async #storeLetters(letters: readonly Waiting[]): Promise<void> {
    if (letters.length >= batchMessagesMin && (await this.#isStoredTogether(letters))) {
      this.#writer.accepted();
      for (const { resolve } of letters) resolve(true);
      return;
    }
    const storing = letters.map(({ payload, msgId, resolve }) => {
      const stored = this.#writer.write({ subject: this.#subject, payload, msgId }).then((seq) => seq !== undefined);
      resolve(stored);
      return stored;
    });
    await Promise.allSettled(storing);
  }

  /** One try. What it did not store, or may have, is published by itself: the ids say what is there already. */
  async #isStoredTogether(letters: readonly Waiting[]): Promise<boolean> {
    const { connection, onRetry } = this.#options;
    try {
      const messages = letters.map(({ payload, msgId }) => ({ subject: this.#subject, payload, msgId }));
      await publishBatch(connection, messages, batchTimeoutMs);
      return true;
    } catch (error) {
      // Another error is one of publishing each of them as well.
      if (error instanceof PublishError) onRetry(error.reason, 1);
      return false;
    }
  }
}

function takeLetters(waiting: Waiting[]): Waiting[] {
  let [letters, bytes] = [0, 0];
  for (const { payload } of waiting) {
    bytes += payload.length;
    if (letters === lettersAtOnceMax || (letters > 0 && bytes > bytesAtOnceMax)) break;
    letters += 1;
  }
  return waiting.splice(0, letters);
}
