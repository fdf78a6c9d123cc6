import { expect, test } from 'vitest';
import { FrameQuotas } from './frame-quota.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const all = 128 * mebibyte;
const each = { bytesMax: 16 * mebibyte, framesAheadMax: 32 };

test('frame quota: when there are only a few dispatchers, each may use its own maximum', () => {
  const quotas = new FrameQuotas(all);
  const few = Array.from({ length: 8 }, () => quotas.join(each));
  expect(few.map(({ bytesMax, framesAheadMax }) => [bytesMax, framesAheadMax])).toEqual(
    few.map(() => [16 * mebibyte, 32]),
  );
});

test('frame quota: when there are many dispatchers, each may use an equal share, and at least one frame', () => {
  const quotas = new FrameQuotas(all);
  const many = Array.from({ length: 1_000 }, () => quotas.join(each));
  const [first] = many;
  expect(first?.bytesMax).toBe(Math.floor((128 * mebibyte) / 1_000));
  expect(first?.framesAheadMax).toBe(1);
  for (let frames = 0; frames < 50; frames += 1) first?.note(kibibyte);
  expect(first?.framesAheadMax).toBe(32);
  first?.note(512 * kibibyte);
  expect(first?.framesAheadMax).toBe(1);
  for (const quota of many.slice(1)) quota.leave();
  expect(first?.bytesMax).toBe(16 * mebibyte);
});

test('frame quota: a dispatcher that leaves twice is counted once', () => {
  const quotas = new FrameQuotas(16 * mebibyte);
  const [one, other] = [quotas.join(each), quotas.join(each)];
  other.leave();
  other.leave();
  expect(one.bytesMax).toBe(16 * mebibyte);
  quotas.join(each);
  expect(one.bytesMax).toBe(8 * mebibyte);
});
