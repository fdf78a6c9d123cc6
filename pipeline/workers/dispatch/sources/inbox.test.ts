import { expect, test } from 'vitest';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import { OpenedFrame } from '../events/opened-frames.ts';
import { DispatchItem } from './dispatch-item.ts';
import type { SettledPart } from './dispatch-place.ts';
import { FramesInFlight } from './frames-in-flight.ts';
import { Inbox, placeOf } from './inbox.ts';
import type { InboxOptions } from './inbox.ts';
import { retryFrameOf } from '../testing/retry-frame.ts';
import type { LoadedRecord } from './retry-reader.ts';

const part = (seq: number, ...lines: number[]): SettledPart => ({ seq, storedAtMs: 1, lines: Uint8Array.from(lines) });

/**
 * An inbox whose health is stored when a test calls `store`; `done` lists what the inbox did with its frame.
 * `settledBefore`: what earlier dispatchers had settled.
 */
function open(isStored: boolean, lines: readonly string[] = ['one'], settledBefore: readonly SettledPart[] = []) {
  const done: string[] = [];
  let store: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => (store = resolve));
  const parts = new Map(settledBefore.map((each) => [each.seq, each]));
  const frames = new FramesInFlight(1_000);
  const pullConsumer = { handedOutSeq: 0, finished: { upTo: 0, above: [3], storedUntilMs: 1 } } as unknown;
  const options: InboxOptions = {
    pullConsumer: pullConsumer as InboxOptions['pullConsumer'],
    retries: { abandoned: () => undefined } as unknown as InboxOptions['retries'],
    health: {
      moved: () => undefined,
      passed: () => undefined,
      skipped: () => done.push('recorded'),
      stored: () => (isStored ? undefined : stored),
    } as unknown as InboxOptions['health'],
    settledBefore: parts,
    frames,
    opener: { open: ({ data }) => new OpenedFrame(data, false), leave: () => undefined },
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
  for (const id of lines) writer.appendLine(id === '' ? 'no event' : encodeResolved(sampleEvent({ id })));
  const message = {
    seq: 1,
    storedAtMs: 1,
    timesHandedOut: 1,
    data: writer.bytes(),
    working: () => undefined,
    finish: () => done.push('finished'),
    ack: () => done.push('acknowledged'),
    release: () => done.push('released'),
  } as unknown as LogMessage;
  const place = () => placeOf(options.pullConsumer, frames, parts);
  return { inbox: new Inbox(options), message, done, store, place, parts };
}

/** The ids of the events that are left to be read; empty for a line that cannot be read. */
function readAll(inbox: Inbox): string[] {
  const ids: string[] = [];
  for (let read = inbox.next(); read !== undefined; read = inbox.next()) {
    ids.push(read instanceof DispatchItem ? read.head.id : '');
  }
  return ids;
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

test('inbox: lines that were settled before a frame was handed back are not read again', () => {
  const { inbox, message, done } = open(true, ['one', 'two', 'three'], [part(1, 0b001)]);
  inbox.take(message);
  const second = inbox.next();
  if (second instanceof DispatchItem) inbox.skip(second);
  expect([inbox.handBackUnstarted().size, done]).toEqual([1, ['released']]);
  inbox.take(message);
  expect(readAll(inbox)).toEqual(['three']);
});

test('inbox: the position keeps the settled lines of frames that are not delivered yet', () => {
  const { inbox, message, place } = open(true, ['one', 'two'], [part(0, 1), part(1, 1), part(2, 1), part(3, 1)]);
  const seqs = (): number[] => place().parts.map(({ seq }) => seq);
  expect(seqs()).toEqual([1, 2]);
  inbox.take(message);
  expect(new Set(seqs())).toEqual(new Set([1, 2]));
  expect(readAll(inbox)).toEqual(['two']);
});

test('inbox: settled lines of frames that are finished are forgotten', () => {
  const { place, parts } = open(true, ['one'], [part(0, 1), part(1, 1)]);
  place();
  expect([...parts.keys()]).toEqual([1]);
});

test('inbox: a frame with a line that cannot be read is not handed back, since the line is counted', () => {
  const { inbox, message } = open(true, ['', 'two']);
  inbox.take(message);
  expect(readAll(inbox)).toEqual(['', 'two']);
  expect(inbox.handBackUnstarted().size).toBe(0);
});

test('inbox: a frame of retries with an event that is no longer in EVENTS is not handed back, since the event is counted', () => {
  const { inbox } = open(true);
  const times = { firstAttemptAt: 1, lastAttemptAt: 1, notBefore: 1, receivedAt: 1 };
  const record = { attempts: 1, ...times, reason: 'test', visitorId: 'v', eventId: 'gone', bytes: 1 };
  const records: LoadedRecord[] = [{ index: 0, record, loaded: { kind: 'gone' } }];
  expect(inbox.takeRetries(retryFrameOf(records), records)).toMatchObject([{ loaded: { kind: 'gone' } }]);
  expect(inbox.handBackUnstarted().size).toBe(0);
});
