import { expect, test } from 'vitest';
import { DestinationLabels } from './shown-destinations.ts';

test('destination labels: the first destinations, up to the limit, have labels of their own; the rest share one label', () => {
  const labels = new DestinationLabels(2);
  expect(['a', 'b', 'c', 'd', 'a', 'c'].map((id) => labels.labelOf(id))).toEqual([
    'a',
    'b',
    '_other',
    '_other',
    'a',
    '_other',
  ]);
  expect(labels.dropped).toBe(2);
});

test('destination labels: a free label goes to a new destination, not to one that was counted in the shared label', () => {
  const labels = new DestinationLabels(1);
  for (const id of ['a', 'b']) labels.labelOf(id);
  expect(labels.forget('a')).toBe(false);
  expect(labels.labelOf('b')).toBe('_other');
  expect(labels.labelOf('c')).toBe('c');
  expect(labels.forget('b')).toBe(true);
});

test('destination labels: with a limit of zero, every destination gets the shared label', () => {
  expect(new DestinationLabels(0).labelOf('a')).toBe('_other');
});
