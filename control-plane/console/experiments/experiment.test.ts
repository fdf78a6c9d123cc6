import { expect, test } from 'vitest';
import { compareWithControl, shareOfControl, stillEdited } from './experiment.ts';

test('weights: the control gets 100 minus the other weights, rounded to hundredths', () => {
  const control = { isControl: true, weight: 70 };
  expect(shareOfControl([control, { isControl: false, weight: 33.3 }, { isControl: false, weight: null }])).toBe(66.7);
  expect(shareOfControl([control, { isControl: false, weight: 60.01 }, { isControl: false, weight: 40 }])).toBe(-0.01);
});

test('weights: an edit ends once the stored variants have it, unless it was edited again since it was saved', () => {
  const edited = new Map([
    ['a', 20],
    ['b', 30],
  ]);
  expect([...stillEdited(edited, new Map(), new Map([['a', 20]])).keys()]).toEqual(['b']);
  expect([...stillEdited(edited, edited, new Map([...edited, ['b', 10]])).keys()]).toEqual(['b']);
  expect([...stillEdited(new Map([['a', 10]]), new Map([['a', 20]]), new Map([['a', 10]])).keys()]).toEqual(['a']);
});

test('results: a variant is above or below the control only where their intervals do not meet', () => {
  const control = { isControl: true, confidenceInterval: { low: 0.1, high: 0.2 } };
  const against = (low: number, high: number): string => {
    const variant = { isControl: false, confidenceInterval: { low, high } };
    return compareWithControl(variant, [control, variant]);
  };
  expect([against(0.21, 0.3), against(0.05, 0.09), against(0.2, 0.3), against(0.12, 0.15)]).toEqual([
    'above',
    'below',
    'undecided',
    'undecided',
  ]);
  expect(compareWithControl(control, [control])).toBe('undecided');
  expect(compareWithControl({ isControl: false, confidenceInterval: null }, [control])).toBe('undecided');
});
