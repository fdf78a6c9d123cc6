import { expect, test } from 'vitest';
import { decodeHashes, hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import { frameLines } from '../../../shared/contracts/events/frame.ts';
import { decodeResolved, parseResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { Stretch } from '../../../shared/json/byte-writer.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { Compression, OutgoingFrame } from './outgoing-frames.ts';
import { createWriters } from './resolver-context.ts';
import { VisitorRateLimit } from './visitor-rate-limit.ts';

const properties = new VisitorProperties({ email: 'a@b.c' });

type Added = readonly [account: string, id: string, properties?: VisitorProperties];

const uncompressed: Compression = { frames: 'off', frameBytesMin: 1_000, grownTimes: 3 };

function open(frameBytesMax: number, lineBytesMax = 1024 ** 2, writesVisitorsOnce = true) {
  const visitorLimit = new VisitorRateLimit({ perByteSent: 2, burstBytes: 4_096, alwaysBytes: 512 });
  const outgoing = new OutgoingFrames(
    { frameBytesMax, lineBytesMax, writesVisitorsOnce, compression: uncompressed },
    visitorLimit,
    createWriters().frameWriters,
  );
  const add = ([accountId, id, of = properties]: Added): boolean =>
    outgoing.add({
      accountId,
      hash: hashEvent(accountId, id),
      json: stretch(json(id)),
      sentBytes: 20,
      visitorId: 'v',
      properties: of,
    });
  return { outgoing, add };
}

const stretch = (text: string): Stretch => {
  const bytes = Buffer.from(text);
  return { bytes, start: 0, end: bytes.length };
};

const json = (id: string): string => JSON.stringify({ id, event: 'E', event_properties: {} });

function frames(frameBytesMax: number, events: readonly Added[]) {
  const { outgoing, add } = open(frameBytesMax);
  for (const event of events) expect(add(event)).toBe(true);
  return outgoing.finish();
}

const idsIn = ({ payload }: OutgoingFrame): string[] => decodeResolved(payload).map(({ event: { id } }) => id);

test('outgoing frames: each account gets a frame of its own, with its events in order and the hashes of their ids', () => {
  const made = frames(1_000, [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ]);
  expect(made.map((frame) => [frame.accountId, frame.events, idsIn(frame)])).toEqual([
    ['a', 2, ['1', '3']],
    ['b', 1, ['2']],
  ]);
  expect(decodeHashes(made[0]?.ids ?? '')).toEqual([hashEvent('a', '1'), hashEvent('a', '3')]);
});

test('outgoing frames: a frame is closed before it exceeds the limit; a line over the limit gets a frame of its own', () => {
  const made = frames(300, [
    ['a', '1'],
    ['a', '2'],
    ['a', '3'],
    ['a', 'x'.repeat(400)],
    ['a', '4'],
  ]);
  expect(made.map(({ events }) => events)).toEqual([2, 1, 1, 1]);
  expect(made.flatMap(idsIn)).toHaveLength(5);
});

test('outgoing frames: the message id depends on the account and the events, nothing else', () => {
  const [first] = frames(1_000, [
    ['a', '1'],
    ['a', '2'],
  ]);
  const [same] = frames(9_000, [
    ['a', '1'],
    ['a', '2'],
  ]);
  const [fewer] = frames(1_000, [['a', '2']]);
  const [other] = frames(1_000, [
    ['b', '1'],
    ['b', '2'],
  ]);
  expect(same?.msgId).toBe(first?.msgId);
  expect(new Set([first?.msgId, fewer?.msgId, other?.msgId]).size).toBe(3);
});

test('outgoing frames: a visitor is written once per frame, again after it changed, and again in the next frame', () => {
  const large = new VisitorProperties({ email: 'a@b.c', bio: 'x'.repeat(1_000) });
  const changed = large.with({ city: 'Oslo' });
  const made = frames(4_000, [
    ...Array.from({ length: 10 }, (_, at): Added => ['a', `${at}`, large]),
    ['a', 'changed', changed],
    ...Array.from({ length: 20 }, (_, at): Added => ['a', `${at + 10}`, changed]),
  ]);
  expect(made.length).toBeGreaterThan(1);
  const copies = made.map(({ payload }) => Buffer.from(payload).toString('utf8').split('x'.repeat(1_000)).length - 1);
  expect(copies).toEqual([2, ...made.slice(1).map(() => 1)]);
  const cities = made.flatMap(({ payload }) => decodeResolved(payload).map(({ visitor }) => visitor['city']));
  expect(cities).toEqual([...Array.from({ length: 10 }), ...Array.from({ length: 21 }, () => 'Oslo')]);
});

test('outgoing frames: an event that is too large with its visitor is not added, and later events do not refer to that visitor', () => {
  const large = new VisitorProperties({ bio: 'x'.repeat(1_000) });
  const { outgoing, add } = open(4_000, 1_150);
  expect([add(['a', '1'.repeat(100), large]), add(['a', '2', large]), add(['a', '3'])]).toEqual([false, true, true]);
  expect(outgoing.finish().flatMap(idsIn)).toEqual(['2', '3']);
});

test('outgoing frames: for pipelines that cannot read references a visitor is written in each line', () => {
  const { outgoing, add } = open(4_000, 4_000, false);
  expect([add(['a', '1']), add(['a', '2'])]).toEqual([true, true]);
  for (const { payload } of outgoing.finish()) {
    for (const line of frameLines(payload)) expect(parseResolved(line).visitor.email).toBe('a@b.c');
  }
});

test('outgoing frames: visitors whose properties were shortened are counted by account', () => {
  const { outgoing, add } = open(100_000);
  const large = (at: number): VisitorProperties => new VisitorProperties({ bio: `${at}`.repeat(3_000) });
  for (let at = 1; at <= 3; at += 1) add(['a', `${at}`, large(at)]);
  add(['b', '1', large(1)]);
  expect([...outgoing.cutVisitors]).toEqual([['a', 2]]);
});

test.each([
  { frames: 'off', events: 40, sentBytes: 20, isCompressed: false },
  { frames: 'grown', events: 40, sentBytes: 20, isCompressed: true },
  { frames: 'grown', events: 40, sentBytes: 200, isCompressed: false },
  { frames: 'grown', events: 3, sentBytes: 20, isCompressed: false },
  { frames: 'all', events: 40, sentBytes: 200, isCompressed: true },
  { frames: 'all', events: 3, sentBytes: 20, isCompressed: false },
] as const)('outgoing frames: compressed as is set: $frames, $events events of $sentBytes bytes', (given) => {
  const visitorLimit = new VisitorRateLimit({ perByteSent: 2, burstBytes: 4_096, alwaysBytes: 512 });
  const compression = { ...uncompressed, frames: given.frames };
  const limits = { frameBytesMax: 100_000, lineBytesMax: 1024 ** 2, writesVisitorsOnce: true, compression };
  const outgoing = new OutgoingFrames(limits, visitorLimit, createWriters().frameWriters);
  const ids = Array.from({ length: given.events }, (_, index) => `${index}`);
  for (const id of ids) {
    const hash = hashEvent('a', id);
    outgoing.add({
      accountId: 'a',
      hash,
      json: stretch(json(id)),
      sentBytes: given.sentBytes,
      visitorId: 'v',
      properties,
    });
  }
  const [frame] = outgoing.finish();
  expect(frame === undefined ? [] : idsIn(frame)).toEqual(ids);
  const { payload, lines } = frame ?? { payload: new Uint8Array(), lines: new Uint8Array() };
  expect(payload.length < lines.length).toBe(given.isCompressed);
});
