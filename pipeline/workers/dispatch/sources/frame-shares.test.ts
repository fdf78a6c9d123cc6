import { expect, test } from 'vitest';
import { FrameShares } from './frame-shares.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const all = 128 * mebibyte;
const each = { bytesMax: 16 * mebibyte, framesAheadMax: 32 };

test('frame shares: few dispatchers hold as much as each may', () => {
  const shares = new FrameShares(all);
  const few = Array.from({ length: 8 }, () => shares.join(each));
  expect(few.map(({ bytesMax, framesAheadMax }) => [bytesMax, framesAheadMax])).toEqual(
    few.map(() => [16 * mebibyte, 32]),
  );
});

test('frame shares: of many dispatchers each holds an equal part, and fetches one frame at least', () => {
  const shares = new FrameShares(all);
  const many = Array.from({ length: 1_000 }, () => shares.join(each));
  const [first] = many;
  expect(first?.bytesMax).toBe(Math.floor((128 * mebibyte) / 1_000));
  expect(first?.framesAheadMax).toBe(1);
  for (let frames = 0; frames < 50; frames += 1) first?.note(kibibyte);
  expect(first?.framesAheadMax).toBe(32);
  first?.note(512 * kibibyte);
  expect(first?.framesAheadMax).toBe(1);
  for (const share of many.slice(1)) share.leave();
  expect(first?.bytesMax).toBe(16 * mebibyte);
});

test('frame shares: who has left leaves once', () => {
  const shares = new FrameShares(16 * mebibyte);
  const [one, other] = [shares.join(each), shares.join(each)];
  other.leave();
  other.leave();
  expect(one.bytesMax).toBe(16 * mebibyte);
  shares.join(each);
  expect(one.bytesMax).toBe(8 * mebibyte);
});
