import { describe, expect, test } from 'vitest';
import { finishedSeq, keepFromBySize } from './retention.ts';

const consumer = (ackedSeq: number, waiting = 0, unacknowledged = 0) => ({ ackedSeq, waiting, unacknowledged });

describe('retention policy', () => {
  test.each([
    [[], undefined],
    [[consumer(5, 3)], 5],
    [[consumer(5, 0, 2)], 5],
    [[consumer(50, 1), consumer(5), consumer(90, 7)], 5],
    // The consumer reports nothing waiting, but a message after the last acknowledged one may just have been stored.
    [[consumer(95)], 95],
    [[consumer(120)], 120],
    // This consumer was created before its first message.
    [[consumer(0)], 100],
    [[consumer(0, 1)], 0],
    [[consumer(0), consumer(7)], 7],
  ])('finishedSeq of %o: %s', (consumers, expected) => {
    expect(finishedSeq(consumers, 100)).toBe(expected);
  });

  const state = { bytes: 800, bytesMax: 1_000, messages: 100, firstSeq: 1, lastSeq: 100 };

  test.each([
    [state, 1 + 38],
    [{ ...state, bytes: 700 }, 1],
    [{ ...state, bytesMax: undefined }, 1],
    [{ ...state, messages: 0, firstSeq: 101 }, 101],
    [{ ...state, firstSeq: 1_001, lastSeq: 1_100 }, 1_001 + 38],
  ])('keepFromBySize of %o: %i', (given, expected) => {
    expect(keepFromBySize(given, { high: 0.7, low: 0.5 }, 0)).toBe(expected);
  });

  test('keepFromBySize: continues from the previous position where that freed too little', () => {
    expect(keepFromBySize(state, { high: 0.7, low: 0.5 }, 61)).toBe(61 + 15);
    expect(keepFromBySize(state, { high: 0.7, low: 0.5 }, 101)).toBe(101);
  });
});
