import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../../shared/embedded/nats/nats-server.ts';
import { copied } from '../../../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import { countBySubject } from '../../../../shared/nats/messages/subject-log.ts';
import { retriesOfDestination, retrySubject } from '../../../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../../../shared/testing/servers.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { until } from '../../../../shared/testing/until.ts';
import { HeldReferences } from '../events/held-references.ts';
import { ReferencedEvents } from '../events/referenced-events.ts';
import { RetryReader } from './retry-reader.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'retry-reader-test' });
  await ensureTopology(connection, testTopology());
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

/** Puts events into the first tier, one per frame, due at once. */
async function store(destinationId: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const at = Date.now() - 1_000;
    const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
    const line = encodeRetryRecord({ attempts: 1, reason: 'test', ...times, ...copied(sampleEvent({ id })) });
    const message = { subject: retrySubject(destinationId, 0), payload: Buffer.from(`${line}\n`) };
    await publishWithRetry(connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 });
  }
}

type Taken = { finished(): void; abandoned(): void };

/** Reads with a reader that is stopped when the test is finished. */
function read(
  destinationId: string,
  onFrame: (id: string, frame: Taken) => void,
  onUnreadable: (data: Uint8Array) => void = () => undefined,
  own: Partial<ConstructorParameters<typeof RetryReader>[0]> = {},
): void {
  const reader = new RetryReader({
    connection,
    destinationId,
    events: new ReferencedEvents(1),
    references: new HeldReferences(),
    parked: undefined,
    finishedBytesMax: () => Infinity,
    warn: () => undefined,
    ...own,
  });
  const take = async (): Promise<void> => {
    for await (const frame of reader.due()) {
      const taken = { finished: () => reader.finished(frame), abandoned: () => reader.abandoned(frame) };
      if (frame.content.kind === 'records') onFrame(frame.content.records[0]?.record.eventId ?? '', taken);
      else {
        onUnreadable(frame.content.data);
        taken.finished();
      }
    }
  };
  const taking = take();
  onTestFinished(async () => {
    await reader.stop();
    await taking;
  });
  reader.stored(0);
  reader.open();
}

test('retry reader: hand back: a frame that is handed back during the next read is delivered again', async () => {
  const destinationId = randomUUID();
  await store(destinationId, ['a', 'b', 'c']);
  const finished: string[] = [];
  let handedBack = 0;
  read(destinationId, (id, frame) => {
    if (id === 'a' && handedBack < 3) {
      handedBack += 1;
      // The frame is handed back after the next read was requested, and before that read is answered.
      queueMicrotask(() => frame.abandoned());
      return;
    }
    finished.push(id);
    frame.finished();
  });
  await until('all are finished', () => new Set(finished).size === 3);
  expect(handedBack).toBe(3);
  expect(new Set(finished)).toEqual(new Set(['a', 'b', 'c']));
  await until('the log holds none of them any more', async () => {
    const left = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
    return left.size === 0;
  });
});

test('retry reader: unreadable: a record of another version, or without a version, is reported and skipped', async () => {
  const destinationId = randomUUID();
  const strange = ['{"v":2,"later":true}\n', 'null\n', '{}\n'];
  for (const text of strange) {
    const message = { subject: retrySubject(destinationId, 0), payload: Buffer.from(text) };
    await publishWithRetry(connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 });
  }
  await store(destinationId, ['known']);
  const told: string[] = [];
  const finished: string[] = [];
  const onFrame = (id: string, frame: Taken): void => {
    finished.push(id);
    frame.finished();
  };
  read(destinationId, onFrame, (data) => told.push(Buffer.from(data).toString()));
  await until('the known one is read', () => finished.includes('known'));
  expect(finished).toEqual(['known']);
  expect(told).toEqual(strange);
});

test('retry reader: storm: frames handed back at any moment are all finished in the end, once each', async () => {
  const destinationId = randomUUID();
  const ids = Array.from({ length: 200 }, (_, i) => `e${i}`);
  await store(destinationId, ids);
  const finished: string[] = [];
  let turn = 0;
  read(destinationId, (id, frame) => {
    turn += 1;
    const end = (): void => {
      finished.push(id);
      frame.finished();
    };
    const ends = [end, () => frame.abandoned()];
    const chosen = turn < 2_000 ? (ends[turn % 2] ?? end) : end;
    if (turn % 3 === 0) setImmediate(chosen);
    else if (turn % 3 === 1) setTimeout(chosen, turn % 5);
    else queueMicrotask(chosen);
  });
  await until('all are finished', () => new Set(finished).size === ids.length);
  expect(finished.toSorted()).toEqual(ids.toSorted());
});

test('retry reader: finished frames behind an unfinished one are removed once they take much of the log, and then counted', async () => {
  const destinationId = randomUUID();
  await store(destinationId, ['held', ...Array.from({ length: 20 }, (_, n) => `done${n}`)]);
  let removedBytes = 0;
  const onRemoved = (bytes: number): void => void (removedBytes += bytes);
  read(
    destinationId,
    (id, frame) => {
      if (id !== 'held') frame.finished();
    },
    undefined,
    { finishedBytesMax: () => 1_000, onRemoved },
  );
  const counts = () => countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  await expect.poll(async () => [...(await counts()).values()], { timeout: 20_000 }).toEqual([1]);
  await until('it is counted', () => removedBytes > 1_000);
});
