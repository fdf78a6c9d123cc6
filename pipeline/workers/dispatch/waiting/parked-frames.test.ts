import { expect, test } from 'vitest';
import { decodeSettledNote } from '../../../../shared/contracts/events/retry-record.ts';
import { client } from '../../../../shared/nats/connection/client.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { HeldReferences } from '../events/held-references.ts';
import { ParkedFrames } from './parked-frames.ts';

/** Parked frames with a log that stores every message; `done` lists what they write and remove, in order. */
function open() {
  const done: string[] = [];
  let seq = 100;
  const ask = (_: string, payload: Uint8Array) => {
    done.push(`note ${JSON.stringify([...decodeSettledNote(payload)])}`);
    seq += 1;
    return Promise.resolve({ data: Buffer.from(JSON.stringify({ stream: streams.retry, seq })) });
  };
  const deleteMessage = (_: string, removed: number) => Promise.resolve(void done.push(`remove ${removed}`));
  const own = { asker: { ask }, jsm: { streams: { deleteMessage } } };
  const connection = { connected: true, [client]: own } as unknown as LogConnection;
  const warn = (error: unknown): never => {
    throw error;
  };
  const frames = new ParkedFrames({ connection, destinationId: 'd', references: new HeldReferences(), warn });
  frames.open();
  return { frames, done };
}

test('parked frames: the note lists the events of a finished frame until the frame is removed', async () => {
  const { frames, done } = open();
  frames.stored(5, 2, 100);
  for (const index of [0, 1]) frames.finished({ seq: 5, index });
  await frames.stop();
  expect(done).toEqual(['note [[5,[0,1]]]', 'remove 5', 'remove 101']);
});

test('parked frames: a removed frame leaves the note with the next write', async () => {
  const { frames, done } = open();
  for (const seq of [5, 6]) frames.stored(seq, 2, 100);
  for (const index of [0, 1]) frames.finished({ seq: 5, index });
  frames.finished({ seq: 6, index: 0 });
  await frames.stop();
  await frames.stop();
  expect(done).toEqual(['note [[6,[0]],[5,[0,1]]]', 'remove 5', 'note [[6,[0]]]', 'remove 101']);
});

test('parked frames: a frame with one event is removed without a note', async () => {
  const { frames, done } = open();
  frames.stored(5, 1, 100);
  frames.finished({ seq: 5, index: 0 });
  await frames.stop();
  expect(done).toEqual(['remove 5']);
});
