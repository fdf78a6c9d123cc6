import { describe, expect, it } from 'vitest';
import { finishedSeq, keepFromBySize } from './retention-policy.ts';

describe('retention policy', () => {
  it.each([
    [[], undefined],
    [[5], 5],
    [[5, 50, 90], 5],
    [[0, 7], 0],
  ])('finishedSeq of consumers that acknowledged %o: %s', (acked, expected) => {
    expect(finishedSeq(acked.map((ackedSeq) => ({ ackedSeq })))).toBe(expected);
  });

  const state = { bytes: 800, bytesMax: 1_000, messages: 100, firstSeq: 1, lastSeq: 100 };

  it.each([
    [state, 1 + 38],
    [{ ...state, bytes: 700 }, 1],
    [{ ...state, bytesMax: undefined }, 1],
    [{ ...state, messages: 0, firstSeq: 101 }, 101],
    [{ ...state, firstSeq: 1_001, lastSeq: 1_100 }, 1_001 + 38],
  ])('keepFromBySize of %o: %i', (given, expected) => {
    expect(keepFromBySize(given, { high: 0.7, low: 0.5 }, 0)).toBe(expected);
  });

  it('keepFromBySize: goes on from where the time before did not help', () => {
    expect(keepFromBySize(state, { high: 0.7, low: 0.5 }, 61)).toBe(61 + 15);
    expect(keepFromBySize(state, { high: 0.7, low: 0.5 }, 101)).toBe(101);
  });
});
