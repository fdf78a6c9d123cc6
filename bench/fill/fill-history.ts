import { randomBytes, randomUUID } from 'node:crypto';
import { idsHeader } from '../../shared/contracts/events/event-hash.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../shared/contracts/subjects.ts';

export type FillHistoryOptions = {
  readonly natsUrl: string;
  readonly accountId: string;
  readonly partitions: number;
  /** Total number of event ids; each frame has `idsPerFrame` of them. */
  readonly ids: number;
  readonly idsPerFrame: number;
  /** Total size of the payloads of all frames. */
  readonly bytes: number;
};

const publishesInFlight = 32;
const publishTimeoutMs = 60_000;

/**
 * Writes frames with event ids and payloads to EVENTS, like a day of resolver output: the history that a pipeline reads
 * when it starts. The payloads are random bytes, which no reader can decode.
 */
export async function fillHistory(options: FillHistoryOptions): Promise<void> {
  const { natsUrl, accountId, partitions, ids, idsPerFrame, bytes } = options;
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  const frames = Math.ceil(ids / idsPerFrame);
  const payload = randomBytes(Math.ceil(bytes / frames));
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < frames) {
      const subject = eventsSubject(accountId, next % partitions);
      next += 1;
      await publish(connection, subject, payload, {
        msgId: randomUUID(),
        headers: { [idsHeader]: randomBytes(idsPerFrame * 8).toString('base64') },
        timeoutMs: publishTimeoutMs,
      });
    }
  };
  try {
    await Promise.all(Array.from({ length: publishesInFlight }, fill));
  } finally {
    await connection.close();
  }
}
