import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { chosenLetters, deleteLetters, replayLetters } from './destination-letters.ts';
import { chosenIngestLetters, deleteIngestLetter, retryIngestLetter } from './ingest-letters.ts';
import type { LetterChoice } from './letter-choice.ts';

export type DeadLettersRequest = {
  readonly action: 'list' | 'retry' | 'delete';
  /** `ingest`, or the id of a destination. */
  readonly of: string;
  readonly choice: LetterChoice;
};

export type DeadLettersContext = {
  readonly connection: LogConnection;
  readonly replicas: number;
  /** Called with each line. */
  say(line: string): void;
};

/** Does what is asked for, and says what was done. Never what an event says: that may be personal. */
export function runDeadLetters(context: DeadLettersContext, request: DeadLettersRequest): Promise<void> {
  if (request.of === 'ingest') return runForIngest(context, request);
  if (request.choice.seq !== undefined)
    throw new Error('--seq is for ingest: letters of a destination are chosen by reason and age');
  return runForDestination(context, request);
}

async function runForIngest(
  { connection, say }: DeadLettersContext,
  { action, choice }: DeadLettersRequest,
): Promise<void> {
  let [done, incomplete] = [0, 0];
  for await (const letter of chosenIngestLetters(connection, choice)) {
    const { seqs, partition, origin, storedAtMs, reason, payload, isWhole } = letter;
    if (action === 'list') {
      const what = isWhole ? `${payload.length} bytes` : 'incomplete';
      say(`${seqs[0]}\t${new Date(storedAtMs).toISOString()}\tpartition ${partition}\t${origin}\t${what}\t${reason}`);
    } else if (action === 'delete') {
      await deleteIngestLetter(connection, letter);
    } else if (isWhole) {
      await retryIngestLetter(connection, letter);
    } else {
      incomplete += 1;
      continue;
    }
    done += 1;
  }
  const words = { list: 'kept', retry: 'put back into INGEST', delete: 'deleted' } as const;
  say(`${done} ${words[action]}${incomplete === 0 ? '' : `, ${incomplete} left: parts of them are gone`}`);
}

async function runForDestination(
  { connection, replicas, say }: DeadLettersContext,
  { action, of, choice: { reason, toMs } }: DeadLettersRequest,
): Promise<void> {
  const filter = { reason, toMs };
  switch (action) {
    case 'list': {
      let kept = 0;
      for await (const { seq, letter } of chosenLetters(connection, of, filter)) {
        const at = new Date(letter.lastAttemptAt).toISOString();
        say(`${seq}\t${at}\t${letter.event.event.id}\t${letter.attempts} attempts\t${letter.reason}`);
        kept += 1;
      }
      say(`${kept} kept`);
      return;
    }
    case 'delete':
      say(`${await deleteLetters(connection, of, filter)} deleted`);
      return;
    case 'retry': {
      const replay = await replayLetters(connection, replicas, of, filter);
      say(
        replay === undefined
          ? '0 kept'
          : `replay ${replay} is asked for; it waits while no live version has the destination`,
      );
    }
  }
}
