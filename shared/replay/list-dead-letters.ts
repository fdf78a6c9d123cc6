import { decodeDeadLetter } from '../events/dead-letter.ts';
import type { DeadLetter } from '../events/dead-letter.ts';
import type { LogConnection } from '../log/connection.ts';
import { readNewestFirst } from '../log/newest-first.ts';
import { deadLetterSubject } from '../log/subjects.ts';
import { streams } from '../log/topology.ts';

/** A dead letter and its place in the log, which names it. */
export type ListedDeadLetter = { readonly seq: number; readonly letter: DeadLetter };

export type DeadLetterPage = {
  readonly letters: readonly ListedDeadLetter[];
  /** Give it as `beforeSeq` for the next page; undefined on the last one. */
  readonly nextBeforeSeq: number | undefined;
};

/** A page of the dead letters of a destination, newest first. What this build cannot read is left out. */
export async function listDeadLetters(
  connection: LogConnection,
  destinationId: string,
  page: { readonly limit: number; readonly beforeSeq?: number | undefined },
): Promise<DeadLetterPage> {
  const subject = deadLetterSubject(destinationId);
  const found = await readNewestFirst(connection, streams.deadLetters, subject, page.limit, page.beforeSeq);
  const letters = found.messages.flatMap(({ seq, data }) => {
    const letter = decodeDeadLetter(data);
    return letter === undefined ? [] : [{ seq, letter }];
  });
  return { letters, nextBeforeSeq: found.hasMore ? found.messages.at(-1)?.seq : undefined };
}
