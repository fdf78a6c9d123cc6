import { expect, test } from 'vitest';
import type { Activity } from '../api/types.ts';
import { stepsOf } from './get-started.tsx';

type Parts = Pick<Partial<Activity>, 'live' | 'draftChanges'> & { readonly totals?: Partial<Activity['totals']> };

const none = { sources: 0, liveSources: 0, usedSources: 0, destinations: 0, liveDestinations: 0 };
const stepsFor = ({ totals, ...parts }: Parts) => {
  const activity = { sources: [{ id: 's' }], live: null, draftChanges: 0, ...parts, totals: { ...none, ...totals } };
  return stepsOf(activity as unknown as Activity);
};
const doneOf = (parts: Parts): readonly boolean[] => stepsFor(parts).map(({ isDone }) => isDone);

const live = {} as Activity['live'];

test('get started: each step is done by its own condition, not by that of the next step', () => {
  expect(doneOf({})).toEqual([false, false, false, false]);
  expect(doneOf({ totals: { sources: 1 }, draftChanges: 1 })).toEqual([true, false, false, false]);
  const connected = { sources: 1, liveSources: 1 };
  expect(doneOf({ totals: connected, live })).toEqual([true, true, false, false]);
  const used = { ...connected, usedSources: 1, destinations: 1 };
  expect(doneOf({ totals: used, live, draftChanges: 1 })).toEqual([true, true, true, false]);
  expect(doneOf({ totals: { ...used, liveDestinations: 1 }, live })).toEqual([true, true, true, true]);
});

test('get started: each step links to the page where it can be done', () => {
  expect(stepsFor({ totals: { sources: 1 } })[2]?.to).toBe('/sources/s');
  expect(stepsFor({ totals: { destinations: 1 } })[3]?.to).toBe('/draft');
});
