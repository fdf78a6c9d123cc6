import type { Exchange } from '../../../shared/contracts/events/exchange.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { chosenLetters, deleteLetters, findLetter, replayLetters } from './destination-letters.ts';
import { chosenIngestLetters, deleteIngestLetter, retryIngestLetter } from './ingest-letters.ts';
import type { LetterChoice } from './letter-choice.ts';

export type DeadLettersRequest = {
  readonly action: 'list' | 'show' | 'retry' | 'delete';
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

/** Runs the command and prints its result. Only `show` prints what an event holds, which may be personal data. */
export function runDeadLetters(context: DeadLettersContext, request: DeadLettersRequest): Promise<void> {
  const { action, of, choice } = request;
  if (action === 'show') {
    if (of === 'ingest' || choice.seq === undefined) throw new Error('show needs the id of a destination, and --seq');
    return showLetter(context, of, choice.seq);
  }
  if (of === 'ingest') return runForIngest(context, { action, choice });
  if (choice.seq !== undefined) {
    throw new Error('--seq is for ingest and show: letters of a destination are chosen by reason and age');
  }
  return runForDestination(context, { action, of, choice });
}

/** Prints the last request of a dead letter and what the platform answered, as JSON. */
async function showLetter({ connection, say }: DeadLettersContext, of: string, seq: number): Promise<void> {
  const found = await findLetter(connection, of, seq);
  if (found === undefined) throw new Error(`destination ${of} has no dead letter ${seq}`);
  const { event, reason, attempts, firstAttemptAt, lastAttemptAt, request, exchange } = found.letter;
  const times = { firstAttemptAt: new Date(firstAttemptAt), lastAttemptAt: new Date(lastAttemptAt) };
  const { id, event: name } = event.event;
  const last = exchange ?? (request === undefined ? null : { request });
  say(JSON.stringify({ seq, event: { id, name }, reason, attempts, ...times, last }, undefined, 2));
}

type Chosen = Pick<DeadLettersRequest, 'choice'> & { readonly action: 'list' | 'retry' | 'delete' };

async function runForIngest({ connection, say }: DeadLettersContext, { action, choice }: Chosen): Promise<void> {
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

/** What the platform answered, in one column more; nothing where that is not known. */
function errorOf(exchange: Exchange | undefined): string {
  const { code, message } = exchange?.answer ?? {};
  const parts = [code, message].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `\t${parts.join(': ')}`;
}

async function runForDestination(
  { connection, replicas, say }: DeadLettersContext,
  { action, of, choice: { reason, toMs } }: Chosen & Pick<DeadLettersRequest, 'of'>,
): Promise<void> {
  const filter = { reason, toMs };
  switch (action) {
    case 'list': {
      let kept = 0;
      for await (const { seq, letter } of chosenLetters(connection, of, filter)) {
        const at = new Date(letter.lastAttemptAt).toISOString();
        const { attempts, reason, exchange } = letter;
        const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
        say(`${seq}\t${at}\t${letter.event.event.id}\t${tried}\t${reason}${errorOf(exchange)}`);
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
