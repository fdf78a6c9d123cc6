import { expect, test } from 'vitest';
import type { Activity } from '../api/types.ts';
import { stepsOf } from './get-started.tsx';

type Parts = {
  readonly sources?: object[];
  readonly destinations?: object[];
  readonly live?: object | null;
  readonly draftChanges?: number;
};

const stepsFor = (parts: Parts) =>
  stepsOf({ sources: [], destinations: [], live: null, draftChanges: 0, ...parts } as unknown as Activity);
const doneOf = (parts: Parts): readonly boolean[] => stepsFor(parts).map(({ isDone }) => isDone);

const source = { id: 's', isLive: false, lastTriggeredAt: null };
const used = { ...source, isLive: true, lastTriggeredAt: '2026-11-27T00:00:00Z' };

test('get started: each step is done by what it asks for, and not by the one after it', () => {
  expect(doneOf({})).toEqual([false, false, false, false]);
  expect(doneOf({ sources: [source], draftChanges: 1 })).toEqual([true, false, false, false]);
  expect(doneOf({ sources: [{ ...source, isLive: true }], live: {}, draftChanges: 0 })).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(doneOf({ sources: [used], live: {}, draftChanges: 1, destinations: [{ isLive: false }] })).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(doneOf({ sources: [used], live: {}, destinations: [{ isLive: true }] })).toEqual([true, true, true, true]);
});

test('get started: a step leads to where it is done', () => {
  expect(stepsFor({ sources: [source] })[2]?.to).toBe('/sources/s');
  expect(stepsFor({ destinations: [{ isLive: false }] })[3]?.to).toBe('/draft');
});
