import type { Exchange } from '../../../shared/contracts/events/exchange.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { chosenLetters, deleteLetters, findLetter, replayLetters } from './destination-letters.ts';
import { findDestination } from './find-destination.ts';
import { chosenIngestLetters, deleteIngestLetter, retryIngestLetter } from './ingest-letters.ts';
import type { LetterChoice } from './letter-choice.ts';
import type { ListedDeadLetter } from '../../../shared/nats/messages/list-dead-letters.ts';

export type DeadLettersRequest = {
  readonly action: 'list' | 'show' | 'retry' | 'delete';
  /** `ingest`, or the id or name of a destination. */
  readonly of: string;
  readonly choice: LetterChoice;
};

export type DeadLettersContext = {
  readonly connection: LogConnection;
  readonly replicas: number;
  /** Whether to print JSON lines, for programs. */
  readonly isJson?: boolean;
  /** Called with each line. */
  say(line: string): void;
};

/** Runs the command and prints its result. Only `show` prints an event's content, which may be personal data. */
export async function runDeadLetters(context: DeadLettersContext, request: DeadLettersRequest): Promise<void> {
  const { action, of, choice } = request;
  if (action === 'show') {
    if (of === 'ingest' || choice.seq === undefined) throw new Error('show needs a destination and --seq');
    return showLetter(context, await findDestination(context.connection, of), choice.seq);
  }
  if (of === 'ingest') return runForIngest(context, { action, choice });
  if (choice.seq !== undefined) {
    throw new Error('--seq is for ingest and show: dead letters of a destination are chosen by reason and age');
  }
  return runForDestination(context, { action, of: await findDestination(context.connection, of), choice });
}

/** Prints a dead letter's last request and the platform's response, as JSON. */
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

async function runForIngest(context: DeadLettersContext, { action, choice }: Chosen): Promise<void> {
  const { connection, say, isJson } = context;
  let [done, incomplete] = [0, 0];
  for await (const letter of chosenIngestLetters(connection, choice)) {
    const { seqs, partition, origin, storedAtMs, reason, payload, isWhole } = letter;
    if (action === 'list') {
      const [seq, storedAt, bytes] = [seqs[0], new Date(storedAtMs).toISOString(), payload.length];
      const what = isWhole ? countOf(bytes, 'byte') : 'incomplete';
      const line = `${seq}\t${storedAt}\tpartition ${partition}\t${origin}\t${what}\t${reason}`;
      say(isJson === true ? JSON.stringify({ seq, storedAt, partition, origin, bytes, isWhole, reason }) : line);
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
  const left = incomplete === 0 ? '' : `, ${incomplete} left: parts of them are gone`;
  sum(context, { [resultNames[action]]: done, incomplete }, `${done} ${words[action]}${left}`);
}

/** Name of the count in the last line of `--json`, by action. */
const resultNames = { list: 'kept', retry: 'putBack', delete: 'deleted' } as const;

/** The summary line of a command. */
function sum({ say, isJson }: DeadLettersContext, result: object, text: string): void {
  say(isJson === true ? JSON.stringify(result) : text);
}

const countOf = (count: number, noun: string): string => `${count} ${count === 1 ? noun : `${noun}s`}`;

/** An extra column with the platform's error code and message; empty if they are unknown. */
function errorOf(exchange: Exchange | undefined): string {
  const { code, message } = exchange?.answer ?? {};
  const parts = [code, message].filter((part) => part !== undefined);
  return parts.length === 0 ? '' : `\t${parts.join(': ')}`;
}

async function runForDestination(
  context: DeadLettersContext,
  { action, of, choice: { reason, toMs } }: Chosen & Pick<DeadLettersRequest, 'of'>,
): Promise<void> {
  const { connection, replicas } = context;
  const filter = { reason, toMs };
  switch (action) {
    case 'list': {
      let kept = 0;
      for await (const found of chosenLetters(connection, of, filter)) {
        listLetter(context, found);
        kept += 1;
      }
      sum(context, { kept }, `${kept} kept`);
      return;
    }
    case 'delete': {
      const deleted = await deleteLetters(connection, of, filter);
      sum(context, { deleted }, `${deleted} deleted`);
      return;
    }
    case 'retry': {
      const replay = await replayLetters(connection, replicas, of, filter);
      const text = `replay ${replay} was requested; it waits while no live version has the destination`;
      sum(context, { replay: replay ?? null }, replay === undefined ? '0 kept' : text);
    }
  }
}

function listLetter({ say, isJson }: DeadLettersContext, { seq, letter }: ListedDeadLetter): void {
  const { attempts, reason, exchange, event } = letter;
  const { id, event: name } = event.event;
  const lastAttemptAt = new Date(letter.lastAttemptAt).toISOString();
  if (isJson === true) {
    const { status, code, message } = exchange?.answer ?? {};
    say(
      JSON.stringify({ seq, lastAttemptAt, event: { id, name }, attempts, reason, answer: { status, code, message } }),
    );
    return;
  }
  say([seq, lastAttemptAt, id, name, countOf(attempts, 'attempt'), `${reason}${errorOf(exchange)}`].join('\t'));
}
