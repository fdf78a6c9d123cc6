import { createHash } from 'node:crypto';
import { encodeDeadLetter } from '../../shared/events/dead-letter.ts';
import type { DeadLetter } from '../../shared/events/dead-letter.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import type { PublishFailure } from '../../shared/log/publish-answer.ts';
import { deadLetterSubject } from '../../shared/log/subjects.ts';
import { publishUntilStored } from './publish-until-stored.ts';

/** Keeps what a destination will not take, with the reason. */
export type DeadLetterWriter = {
  /** Settles once the log has it; rejects when the dispatcher ended before that. */
  add(letter: Omit<DeadLetter, 'v' | 'destinationId'>): Promise<void>;
  /** Keeps bytes of the log this build cannot read. */
  addUnreadable(data: Uint8Array, reason: string): Promise<void>;
};

export type DeadLetterWriterOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly signal: AbortSignal;
  onRetry(reason: PublishFailure, tries: number): void;
};

export function createDeadLetterWriter(options: DeadLetterWriterOptions): DeadLetterWriter {
  const { connection, destinationId, signal, onRetry } = options;
  const subject = deadLetterSubject(destinationId);
  const store = async (payload: Uint8Array, identity: string): Promise<void> => {
    const msgId = createHash('sha256').update(`dead\n${destinationId}\n${identity}`).digest('base64url');
    await publishUntilStored(connection, subject, payload, { msgId, signal, onRetry });
  };
  return {
    add: (letter) =>
      store(
        encodeDeadLetter({ v: 1, destinationId, ...letter }),
        `${letter.event.event.id}\n${letter.firstAttemptAt}\n${letter.attempts}`,
      ),
    addUnreadable: (data, reason) => {
      const raw = Buffer.from(data).toString('base64');
      return store(Buffer.from(JSON.stringify({ v: 1, destinationId, reason, raw })), raw);
    },
  };
}
