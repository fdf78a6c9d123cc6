import { clockSlackMs, decodeDeadLetter, matchesFilter } from '../../../shared/contracts/events/dead-letter.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { findSeqAt, readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../shared/nats/messages/subject-log.ts';
import { deadLetterSubject, eventsOfAccount } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { DeadLetterFilter } from '../../../shared/contracts/events/dead-letter.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import { readWholeLine, resolvedLines } from '../../workers/dispatch/inbox/dispatch-item.ts';

/** Where the events of a replay come from. */
export type ReplaySource = {
  readonly stream: string;
  readonly subject: string;
  /** Where to begin and where to end when it starts: what comes later, from the replay itself too, is not part of it. */
  range(): Promise<{ readonly nextSeq: number; readonly endSeq: number }>;
  /** The events of a message that are to be sent again. */
  events(message: StoredMessage): readonly ResolvedEvent[];
  /** Whether a message leaves its stream once its events are before the destination again. */
  readonly isConsumed: boolean;
};

export function replaySourceOf(
  connection: LogConnection,
  { destinationId, accountId, request }: ReplayJob,
): ReplaySource {
  switch (request.what) {
    case 'dead-letters':
      return {
        stream: streams.deadLetters,
        subject: deadLetterSubject(destinationId),
        isConsumed: true,
        range: async () => {
          const { lastSeq } = await readStreamState(connection, streams.deadLetters);
          const { fromMs } = request;
          const { deadLetters } = streams;
          const fromSeq = fromMs === undefined ? 1 : await findSeqAt(connection, deadLetters, earlier(fromMs));
          const first = await readNext(connection, deadLetters, deadLetterSubject(destinationId), fromSeq);
          return { nextSeq: first?.seq ?? lastSeq + 1, endSeq: lastSeq };
        },
        events: ({ data }) => deadLetterEvents(data, request),
      };
    case 'log':
      return {
        stream: streams.events,
        subject: eventsOfAccount(accountId),
        isConsumed: false,
        range: async () => ({
          nextSeq: await findSeqAt(connection, streams.events, request.fromMs),
          endSeq: (await findSeqAt(connection, streams.events, request.toMs)) - 1,
        }),
        events: ({ data }) => resolvedLines(data).flatMap((line) => readWholeLine(line) ?? []),
      };
  }
}

function deadLetterEvents(data: Uint8Array, filter: DeadLetterFilter): readonly ResolvedEvent[] {
  const letter = decodeDeadLetter(data);
  return letter !== undefined && matchesFilter(letter, filter) ? [letter.event] : [];
}

function earlier(timeMs: number): number {
  return Math.max(0, timeMs - clockSlackMs);
}
