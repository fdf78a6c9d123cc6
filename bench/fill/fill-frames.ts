import { randomUUID } from 'node:crypto';
import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import { partitionOf } from '../../shared/contracts/events/partition.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { createFramePublisher } from '../../shared/nats/publish/frame-publisher.ts';

/** An event to write; its visitor determines the partition. */
export type FillEvent = { readonly visitor: string; append(frame: FrameWriter): void };

export type FillOptions = {
  readonly natsUrl: string;
  readonly events: number;
  readonly accountId: string;
  readonly partitions: number;
  subjectOf(partition: number): string;
  event(index: number): FillEvent;
};

const frameEvents = 256;
const publishesInFlightMax = 16;
const publishTimeoutMs = 30_000;

/** Writes a backlog of events to an existing stream in full frames, much faster than ingest could. */
export async function fillFrames(options: FillOptions): Promise<void> {
  const connection = await connectLog({ url: options.natsUrl, name: 'bench' });
  const publisher = createFramePublisher(connection);
  try {
    const frames = Array.from({ length: options.partitions }, () => new FrameWriter());
    const inFlight = new Set<Promise<void>>();
    // The log discards a message id that it already has, so each fill uses its own ids.
    const fillId = randomUUID();
    let published = 0;
    const send = async (partition: number): Promise<void> => {
      const frame = frames[partition];
      if (frame === undefined || frame.events === 0) return;
      const payload = frame.bytes();
      frame.reset();
      published += 1;
      const sending = store(options.subjectOf(partition), payload, `${fillId}-${published}`).finally(() =>
        inFlight.delete(sending),
      );
      inFlight.add(sending);
      if (inFlight.size >= publishesInFlightMax) await Promise.race(inFlight);
    };
    const store = async (subject: string, payload: Uint8Array, msgId: string): Promise<void> => {
      const failure = await publisher.publish(subject, payload, msgId, publishTimeoutMs);
      if (failure !== undefined) throw new Error(`filling ${subject}: ${failure}`);
    };
    for (let index = 0; index < options.events; index += 1) {
      const event = options.event(index);
      const identity = { externalId: event.visitor, distinctId: event.visitor };
      const partition = partitionOf(options.accountId, identity, options.partitions);
      const frame = frames[partition];
      if (frame === undefined) continue;
      event.append(frame);
      if (frame.events >= frameEvents) await send(partition);
    }
    for (let partition = 0; partition < options.partitions; partition += 1) await send(partition);
    await Promise.all(inFlight);
  } finally {
    await connection.close();
  }
}
