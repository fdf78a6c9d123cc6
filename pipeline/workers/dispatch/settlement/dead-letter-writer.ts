import { createHash } from 'node:crypto';
import { encodeDeadLetter, encodeUnreadable } from '../../../../shared/contracts/events/dead-letter.ts';
import type { DeadLetter } from '../../../../shared/contracts/events/dead-letter.ts';
import { batchMessagesMin, publishBatch } from '../../../../shared/nats/publish/publish-batch.ts';
import { PublishError } from '../../../../shared/nats/publish/publisher.ts';
import { deadLetterSubject } from '../../../../shared/contracts/subjects.ts';
import { LogWriter } from './log-writer.ts';
import type { LogWriterOptions } from './log-writer.ts';

/** Number of tries while the stream is full; together they take longer than retention needs to make room in it. */
const triesWhileFull = 10;
const batchTimeoutMs = 5_000;
/** Maximum bytes of everything in a message except the unreadable bytes. */
const headBytesMax = 4_096;
/** Maximum bytes of the headers of a message. */
const headersBytesMax = 512;
const lettersAtOnceMax = 256;
const bytesAtOnceMax = 4 * 1024 ** 2;

type Waiting = {
  readonly payload: Uint8Array;
  readonly msgId: string;
  resolve(isStored: boolean | Promise<boolean>): void;
};

/**
 * Stores events that a destination will not get, with the reason. Each letter is a message of its own, so that it can
 * be read and removed alone. A destination that refuses everything causes hundreds of letters, so letters that arrive
 * during a write are stored in one batch.
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
   * Resolves with true once the log has stored the letter, or with false once the log has refused it repeatedly.
   * Rejects if the dispatcher ends first. `readFrom` is the line that the event was read from: if the event is read
   * again with the same result, its letter is not stored again. A letter that would not fit into a message is stored
   * without its exchange.
   */
  add(
    letter: Omit<DeadLetter, 'v' | 'destinationId' | 'event'> & { readonly event: string },
    eventId: string,
    readFrom: string,
  ): Promise<boolean> {
    const { destinationId, connection } = this.#options;
    const { exchange: _, ...about } = letter;
    let payload = encodeDeadLetter({ v: 1, destinationId, ...letter });
    if (payload.length > connection.messageBytesMax - headersBytesMax) {
      payload = encodeDeadLetter({ v: 1, destinationId, ...about });
    }
    return this.#store(payload, `${readFrom}\n${eventId}\n${letter.attempts}`);
  }

  /** Stores bytes of the log that this build cannot read, cut to fit into a message; settles as `add` does. */
  addUnreadable(data: Uint8Array, reason: string): Promise<boolean> {
    const { destinationId, connection } = this.#options;
    // Encoded as text, the bytes take a third more. A message that is too large would be refused at every try.
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
    // Waits until all letters of this turn are added, so that they are stored together.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#storeLetters(takeLetters(this.#waiting));
    this.#isDraining = false;
  }

  /** Stores letters and settles the promise of each; never rejects. */
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

  /**
   * Tries once to store all letters in a batch. If that fails, the letters are published one by one, and the log
   * recognises those that it already has by their message ids.
   */
  async #isStoredTogether(letters: readonly Waiting[]): Promise<boolean> {
    const { connection, onRetry } = this.#options;
    try {
      const messages = letters.map(({ payload, msgId }) => ({ subject: this.#subject, payload, msgId }));
      await publishBatch(connection, messages, batchTimeoutMs);
      return true;
    } catch (error) {
      // Any other error occurs again, and is reported, when the letters are published one by one.
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
