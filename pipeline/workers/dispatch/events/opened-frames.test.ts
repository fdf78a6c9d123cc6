import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { compressFrame } from '../../../../shared/contracts/events/compressed-frame.ts';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { OpenedFrames } from './opened-frames.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const bytesMax = 1024 ** 2;

function messageOf(seq: number, names: readonly string[], storedAtMs = 1_000) {
  const frame = new FrameWriter();
  for (const [index, name] of names.entries()) {
    const sample = sampleEvent({
      id: `event-${seq}-${index}`,
      event: name,
      time: 1,
      source_id: 'source-1',
      account_id: 'account-1',
      test: false,
    });
    frame.appendLine(encodeResolved(sample));
  }
  return { seq, storedAtMs, data: compressFrame(frame.bytes()) };
}

test('opened frames: all dispatchers of an account get the same frame, and it is dropped once the last has opened it', () => {
  const frames = new OpenedFrames({ bytesMax });
  const [one, two, three] = [frames.join('a'), frames.join('a'), frames.join('a')];
  const message = messageOf(7, ['Order', 'Refund']);
  const opened = one.open(message);
  expect(two.open(message)).toBe(opened);
  expect(opened.eventAt(1)).toBe(opened.eventAt(1));
  expect(opened.eventAt(1)?.head).toMatchObject({ id: 'event-7-1', name: 'Refund' });
  expect(frames.bytes).toBeGreaterThan(0);
  expect(three.open(message)).toBe(opened);
  expect(frames.bytes).toBe(0);
});

test('opened frames: no frame is kept if the account has only one dispatcher', () => {
  const frames = new OpenedFrames({ bytesMax });
  const alone = frames.join('a');
  frames.join('b');
  const message = messageOf(7, ['Order']);
  expect(alone.open(message)).not.toBe(alone.open(message));
  expect(frames.bytes).toBe(0);
});

test('opened frames: a frame of another account, or another frame with the same sequence, is opened separately', () => {
  const frames = new OpenedFrames({ bytesMax });
  const [one, two, other] = [frames.join('a'), frames.join('a'), frames.join('b')];
  frames.join('b');
  const opened = one.open(messageOf(7, ['Order']));
  expect(other.open(messageOf(7, ['Order']))).not.toBe(opened);
  const anew = two.open(messageOf(7, ['Refund'], 2_000));
  expect(anew.eventAt(0)?.head.name).toBe('Refund');
});

test('opened frames: a line that must be parsed for its head is parsed for each dispatcher', () => {
  const frames = new OpenedFrames({ bytesMax });
  const [one, two] = [frames.join('a'), frames.join('a')];
  const message = messageOf(7, ['say "Order"']);
  const first = one.open(message).eventAt(0);
  const second = two.open(message).eventAt(0);
  expect(first?.rest).toMatchObject({ v: 1, event: { event: 'say "Order"' } });
  expect(second).toEqual(first);
  expect(second?.rest).not.toBe(first?.rest);
});

test('opened frames: an unreadable line or frame is unreadable for every dispatcher', () => {
  const frames = new OpenedFrames({ bytesMax });
  const openers = [frames.join('a'), frames.join('a')];
  const line = { seq: 1, storedAtMs: 1, data: Buffer.from('{"v":9}\n') };
  const whole = { seq: 2, storedAtMs: 1, data: Buffer.from('no line end') };
  for (const opener of openers) {
    const opened = opener.open(line);
    expect([opened.length, opened.textAt(0), opened.eventAt(0)]).toEqual([1, '{"v":9}', undefined]);
    const unreadable = opener.open(whole);
    expect([unreadable.length, unreadable.textAt(0), unreadable.eventAt(0)]).toEqual([1, undefined, undefined]);
  }
});

test('opened frames: a frame is dropped after a while, and when the last dispatcher of its account leaves', async () => {
  // The cache uses the real clock, which it took when it was imported.
  vi.useRealTimers();
  const frames = new OpenedFrames({ bytesMax, keptMs: 50 });
  const openers = [frames.join('a'), frames.join('a')];
  openers[0]?.open(messageOf(7, ['Order']));
  expect(frames.bytes).toBeGreaterThan(0);
  await vi.waitFor(() => expect(frames.bytes).toBe(0), { timeout: 30_000 });
  openers[0]?.open(messageOf(8, ['Order']));
  for (const opener of [...openers, ...openers]) opener.leave();
  expect(frames.bytes).toBe(0);
});

test('opened frames: property: the kept bytes never exceed the limit, in any order of requests', () => {
  const ask = fc.record({
    opener: fc.integer({ min: 0, max: 4 }),
    seq: fc.integer({ min: 1, max: 12 }),
    passMs: fc.constantFrom(0, 0, 500),
  });
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 60 }), fc.integer({ min: 1, max: 8_000 }), (asks, most) => {
      const frames = new OpenedFrames({ bytesMax: most, keptMs: 1_000 });
      const openers = ['a', 'a', 'a', 'b', 'b'].map((accountId) => frames.join(accountId));
      for (const { opener, seq, passMs } of asks) {
        vi.advanceTimersByTime(passMs);
        const names = Array.from({ length: seq }, () => 'Order');
        const opened = openers[opener]?.open(messageOf(seq, names));
        expect(opened?.eventAt(seq - 1)?.head.id).toBe(`event-${seq}-${seq - 1}`);
        expect(frames.bytes).toBeLessThanOrEqual(most);
        expect(frames.bytes).toBeGreaterThanOrEqual(0);
      }
      for (const opener of openers) opener.leave();
      expect(frames.bytes).toBe(0);
    }),
  );
});
