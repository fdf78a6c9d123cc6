import { expect, test } from 'vitest';
import { DestinationLabels } from './shown-destinations.ts';

test('destination labels: the first ones, up to the limit, have their own; the rest share one', () => {
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

test('destination labels: a place that becomes free goes to a newcomer, not to one that was summed up', () => {
  const labels = new DestinationLabels(1);
  for (const id of ['a', 'b']) labels.labelOf(id);
  expect(labels.forget('a')).toBe(false);
  expect(labels.labelOf('b')).toBe('_other');
  expect(labels.labelOf('c')).toBe('c');
  expect(labels.forget('b')).toBe(true);
});

test('destination labels: none at all is fine', () => {
  expect(new DestinationLabels(0).labelOf('a')).toBe('_other');
});
