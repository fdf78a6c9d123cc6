import { expect, test } from 'vitest';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import { FramesInFlight } from './frames-in-flight.ts';
import { Inbox } from './inbox.ts';
import type { InboxOptions } from './inbox.ts';

/** An inbox whose health is stored when a test calls `store`; `done` lists what the inbox did with a frame. */
function open(isStored: boolean) {
  const done: string[] = [];
  let store: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => (store = resolve));
  const options: Pick<InboxOptions, 'pullConsumer' | 'health' | 'settledBefore' | 'frames' | 'counts' | 'order'> = {
    pullConsumer: { handedOutSeq: 0 } as InboxOptions['pullConsumer'],
    health: {
      skipped: () => done.push('recorded'),
      stored: () => (isStored ? undefined : stored),
    } as unknown as InboxOptions['health'],
    settledBefore: new Map(),
    frames: new FramesInFlight(1_000),
    counts: {
      frames: 0,
      redelivered_frames: 0,
      frame_events: 0,
      repeated_events: 0,
      heads_parsed: 0,
      missed_events: 0,
    },
    order: undefined,
  };
  const writer = new FrameWriter();
  writer.appendLine(encodeResolved(sampleEvent({ id: 'one' })));
  const message = {
    seq: 1,
    storedAtMs: 1,
    timesHandedOut: 1,
    data: writer.bytes(),
    finish: () => done.push('finished'),
    ack: () => done.push('acknowledged'),
  } as unknown as LogMessage;
  return { inbox: new Inbox(options as InboxOptions), message, done, store };
}

test('order of effects: a frame is recorded as finished, the record is stored, and then the frame is acknowledged', async () => {
  const { inbox, message, done, store } = open(false);
  inbox.skipFrame(message, 'retention');
  await new Promise(setImmediate);
  expect(done).toEqual(['recorded', 'finished']);
  store();
  await new Promise(setImmediate);
  expect(done).toEqual(['recorded', 'finished', 'acknowledged']);
});

test('order of effects: if everything is stored already, a frame is acknowledged at once', () => {
  const { inbox, message, done } = open(true);
  inbox.skipFrame(message, 'retention');
  expect(done).toEqual(['recorded', 'finished', 'acknowledged']);
});
