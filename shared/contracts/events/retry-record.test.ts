import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { FrameError } from './frame.ts';
import {
  backOffTiers,
  decodeSettledNote,
  delayOfTier,
  encodeRetryRecord,
  encodeSettledNote,
  eventTiers,
  isParkedTier,
  isReplayTier,
  parkedTier,
  parkedTiers,
  parseRetryRecord,
  replayTier,
  retryTier,
  retryTierDelaysMs,
  settledNoteTier,
} from './retry-record.ts';
import type { RetryRecord } from './retry-record.ts';
import { copied } from './testing/copied-record.ts';

const about = { attempts: 2, firstAttemptAt: 20, lastAttemptAt: 30, notBefore: 50, reason: 'http_500' } as const;
const pointing: RetryRecord = {
  ...about,
  origin: { seq: 7, line: 3 },
  visitorId: 'v',
  eventId: 'e',
  receivedAt: 10,
  bytes: 400,
};

test('retry record: in a reference only the times are relative, and each is in the place where earlier builds read it', () => {
  const text = encodeRetryRecord({ ...pointing, heldAt: 40, request: { method: 'POST', host: 'h', status: 500 } });
  const request = '{"method":"POST","host":"h","status":500}';
  expect(text).toBe(`[2,7,3,"v","e",10,10,10,20,400,2,"http_500",40,${request}]`);
  expect(encodeRetryRecord(pointing)).toBe('[2,7,3,"v","e",10,10,10,20,400,2,"http_500",0,null]');
});

test('retry record: a record contains its event or the origin of its event', () => {
  const { origin: _, ...lost } = pointing;
  expect(() => encodeRetryRecord(lost)).toThrow('needs the origin');
  const line = encodeRetryRecord({ ...about, ...copied(sampleEvent({ id: 'e' })) });
  expect(parseRetryRecord(line)).toMatchObject({ ...about, eventId: 'e' });
});

const { event, visitor } = sampleEvent();
test.each([
  ['[3,7,3,"v","e",10,10,10,20,400,2,"r",0,null]', 'version 3 is newer'],
  ['[2,7,3,"v","e",10,10,10,20,400,2,"r",0]', 'version 2 is unknown'],
  ['[2,7.5,3,"v","e",10,10,10,20,400,2,"r",0,null]', 'version 2 is unknown'],
  ['[2,7,3,"v","e",10,10,10,20,400,2,"r",0,{"method":"POST"}]', 'version 2 is unknown'],
  ['null', 'version undefined is unknown'],
  [JSON.stringify({ v: 1, ...about }), 'lacks its event'],
  [JSON.stringify({ v: 1, ...about, event: { event } }), 'lacks its event'],
  [JSON.stringify({ v: 1, ...about, event: { visitor } }), 'lacks its event'],
  [JSON.stringify({ v: 1, ...about, event: { event: { id: 'e' }, visitor } }), 'lacks its event'],
  [JSON.stringify({ v: 1, ...about, event: { event: { received_at: 1 }, visitor } }), 'lacks its event'],
  [JSON.stringify({ event: { event, visitor }, v: 1, ...about }), 'lacks its event'],
])('retry record: %s is refused', (text, why) => {
  expect(() => parseRetryRecord(text)).toThrow(FrameError);
  expect(() => parseRetryRecord(text)).toThrow(why);
});

test.each(['{"deep":[{"a":"}\\""}]}', '{}', '{"long":12345678901234567890}'])(
  'retry record: the event of an earlier build, which wrote the time of the next attempt after it, is kept unchanged: %s',
  (properties) => {
    const line = `{"v":1,"event":{"id":"e","received_at":7,"event_properties":${properties}},"visitor":{"id":"v"}}`;
    const { notBefore, ...before } = about;
    const text = `${JSON.stringify({ v: 1, ...before }).slice(0, -1)},"event":${line},"notBefore":${notBefore}}`;
    const told = { visitorId: 'v', eventId: 'e', receivedAt: 7, bytes: line.length, line };
    expect(parseRetryRecord(text)).toEqual({ ...about, ...told });
  },
);

test('retry tiers: this build writes its own tiers, and also reads the tiers of builds that knew no references', () => {
  const delays = retryTierDelaysMs.map((_, delay) => delay);
  expect(delays.map(retryTier)).toEqual([20, 21, 22, 23, 24, 25, 26]);
  expect([...delays, ...delays.map(retryTier)].map(delayOfTier)).toEqual([...delays, ...delays]);
  const others = [7, 19, 27, replayTier, parkedTier, settledNoteTier, 98, 99];
  expect(others.map(delayOfTier)).toEqual(others.map(() => undefined));
  expect([0, replayTier, 96, 98, 99].map(isReplayTier)).toEqual([false, true, false, false, true]);
  expect([0, 94, parkedTier, 98, 99].map(isParkedTier)).toEqual([false, false, true, true, false]);
  // Tiers with events that an earlier build parked come first.
  expect(parkedTiers).toEqual([98, parkedTier]);
  const all = [0, 1, 2, 3, 4, 5, 6, 20, 21, 22, 23, 24, 25, 26];
  expect(backOffTiers.toSorted((a, b) => a - b)).toEqual(all);
  expect([...eventTiers].toSorted((a, b) => a - b)).toEqual([...all, 94, 96, 98, 99]);
});

test('property: a settled note is read back unchanged', () => {
  const settled = fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(500)))).map((entries) => new Map(entries));
  fc.assert(
    fc.property(settled, (lines) => {
      expect(decodeSettledNote(encodeSettledNote(lines))).toEqual(lines);
    }),
  );
});

test.each([
  '',
  'no json',
  'null',
  '[]',
  '{"v":2,"settled":[[1,[0]]]}',
  '{"v":1,"settled":7}',
  '{"v":1,"settled":[1,["x",[0]],[1],[1,7],[1,[0,"x"]]]}',
])('settled note: %j is read as an empty note', (text) => {
  expect(decodeSettledNote(Buffer.from(text))).toEqual(new Map());
});
