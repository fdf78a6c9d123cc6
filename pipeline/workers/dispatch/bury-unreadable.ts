import type { DeadLetterWriter } from './outbox/dead-letter-writer.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';

export type Burial = { readonly counts: DispatcherCounts; readonly deadLetters: DeadLetterWriter };

/** Keeps a line of the log that holds no event this build can read. Settles once the log has it. */
export function buryUnreadable({ counts, deadLetters }: Burial, line: string): Promise<void> {
  counts.dead_letters += 1;
  counts.dead_letters_unreadable += 1;
  return deadLetters.addUnreadable(Buffer.from(line), 'not a resolved event this build knows');
}
