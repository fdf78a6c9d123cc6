import { decodeDeadLetter } from '../../../shared/contracts/events/dead-letter.ts';
import { deadLetterSubject } from '../../../shared/contracts/subjects.ts';
import { openBucket } from '../../../shared/nats/buckets/bucket.ts';
import { bucketSettings } from '../../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../../shared/nats/buckets/replay-store.ts';
import { followErasures } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { deleteDeadLetters } from '../../../shared/nats/messages/delete-dead-letters.ts';
import type { DeletionRange } from '../../../shared/nats/messages/delete-dead-letters.ts';
import { findDeadLetter, listDeadLetters } from '../../../shared/nats/messages/list-dead-letters.ts';
import type { ListedDeadLetter } from '../../../shared/nats/messages/list-dead-letters.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { LetterChoice } from './letter-choice.ts';

type Chosen = Pick<LetterChoice, 'reason' | 'toMs'>;

const pageLetters = 100;
/** Time limit for reading the list of erased visitors, in ms. */
const erasuresMs = 30_000;
const bounds = { bytesMax: 8 * 1024 ** 2, timeMs: 10_000 };

/**
 * A destination's dead letters, newest first, even if the destination no longer exists. Letters of erased visitors
 * are deleted on the way.
 */
export async function* chosenLetters(
  connection: LogConnection,
  destinationId: string,
  filter: Chosen,
): AsyncGenerator<ListedDeadLetter, void, undefined> {
  const erasures = openErasures(connection);
  try {
    for (let beforeSeq: number | undefined, isLast = false; !isLast;) {
      await erasures.untilCurrent();
      const options = { ...bounds, isErased: erasures.isErased };
      const page = await listDeadLetters(connection, destinationId, { limit: pageLetters, beforeSeq, filter }, options);
      yield* page.letters;
      beforeSeq = page.nextBeforeSeq;
      isLast = beforeSeq === undefined;
    }
  } finally {
    await erasures.stop();
  }
}

/** One dead letter of a destination; undefined if it does not exist. A letter of an erased visitor is deleted. */
export async function findLetter(
  connection: LogConnection,
  destinationId: string,
  seq: number,
): Promise<ListedDeadLetter | undefined> {
  const erasures = openErasures(connection);
  try {
    await erasures.untilCurrent();
    return await findDeadLetter(connection, destinationId, seq, erasures);
  } finally {
    await erasures.stop();
  }
}

function openErasures(connection: LogConnection) {
  let problem: unknown;
  const erasures = followErasures({ connection, onError: (error) => (problem = error) });
  return {
    isErased: erasures.isEventErased,
    stop: () => erasures.stop(),
    untilCurrent: () =>
      erasures.untilCurrent(AbortSignal.timeout(erasuresMs)).catch((error: unknown) => {
        throw new Error('reading the erased visitors: the log did not answer', { cause: problem ?? error });
      }),
  };
}

/** Deletes the dead letters that the filter selects. Returns their number. */
export async function deleteLetters(connection: LogConnection, destinationId: string, filter: Chosen): Promise<number> {
  let deleted = 0;
  for (let range: DeletionRange | undefined, isLast = false; !isLast;) {
    const part = await deleteDeadLetters(connection, destinationId, { filter, range }, bounds);
    deleted += part.deleted;
    range = part.next;
    isLast = range === undefined;
  }
  return deleted;
}

/**
 * Requests a replay of the selected dead letters, which waits until a live version has the destination. Returns the
 * replay's id; undefined if there are no letters.
 */
export async function replayLetters(
  connection: LogConnection,
  replicas: number,
  destinationId: string,
  { reason, toMs }: Chosen,
): Promise<string | undefined> {
  const accountId = await findAccount(connection, destinationId);
  if (accountId === undefined) return undefined;
  const store = createReplayStore(await openBucket(connection, bucketSettings(replicas).replays));
  const job = await store.start(accountId, destinationId, {
    what: 'dead-letters',
    ...(reason === undefined ? {} : { reason }),
    ...(toMs === undefined ? {} : { toMs }),
  });
  return job.id;
}

/** The destination's account, from the first readable letter. */
async function findAccount(connection: LogConnection, destinationId: string): Promise<string | undefined> {
  for (let seq = 1; ;) {
    const message = await readNext(connection, streams.deadLetters, deadLetterSubject(destinationId), seq);
    if (message === undefined) return undefined;
    const letter = decodeDeadLetter(message.data);
    if (letter !== undefined) return letter.event.event.account_id;
    seq = message.seq + 1;
  }
}
