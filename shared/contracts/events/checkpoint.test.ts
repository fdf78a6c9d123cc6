import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRuns, encodeCheckpointHead, encodeRuns, parseCheckpointHead } from './checkpoint.ts';

const run = fc.record({
  timeMs: fc.double({ min: 0, max: 1e14, noNaN: true }),
  ids: fc.array(fc.uint8Array({ minLength: 8, maxLength: 8 }), { maxLength: 20 }).map((ids) => Buffer.concat(ids)),
});

test('checkpoint: written runs are read back unchanged, at any offset in memory', () => {
  fc.assert(
    fc.property(fc.array(run), fc.nat(5), (runs, offset) => {
      const bytes = Buffer.concat([Buffer.alloc(offset), encodeRuns(runs)]).subarray(offset);
      const read = decodeRuns(bytes);
      expect(read?.map(({ timeMs, ids }) => ({ timeMs, ids: Buffer.from(ids) }))).toEqual(runs);
    }),
  );
});

test('checkpoint: a checkpoint that is cut off within a run is not read', () => {
  const ids = Buffer.alloc(16, 7);
  const whole = encodeRuns([
    { timeMs: 1, ids },
    { timeMs: 2, ids },
  ]);
  const runBytes = whole.length / 2;
  for (let length = 0; length < whole.length; length += 1) {
    const isBetweenRuns = length % runBytes === 0;
    expect(decodeRuns(whole.subarray(0, length)) === undefined).toBe(!isBetweenRuns);
  }
});

test('checkpoint: a head that this build cannot use is not read', () => {
  const head = { log: '2026-01-01T00:00:00Z', from: 1, to: 2, ids: 3, windowMs: 1, idsMax: 1 };
  const whole = { ...head, first: 1, witness: { seq: 1, msgId: 'm' } };
  for (const one of [head, whole]) expect(parseCheckpointHead(encodeCheckpointHead(one))).toEqual(one);
  for (const wrong of [{ to: 'x' }, { from: -1 }, { witness: {} }, { witness: { seq: 1 } }])
    expect(parseCheckpointHead(JSON.stringify({ ...head, ...wrong }))).toBeUndefined();
  expect(parseCheckpointHead('{')).toBeUndefined();
  expect(parseCheckpointHead(undefined)).toBeUndefined();
});
