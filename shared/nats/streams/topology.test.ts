import { expect, test } from 'vitest';
import { streamConfigs, streamOf } from './topology.ts';
import { testTopology } from '../../testing/test-topology.ts';

const settings = testTopology();

test('topology: streamOf returns the stream that stores a subject, or undefined if no stream stores it', () => {
  for (const { name, subjects = [] } of streamConfigs(settings)) {
    expect(subjects.map((subject) => [subject, streamOf(subject)])).toEqual(subjects.map((subject) => [subject, name]));
  }
  expect(streamOf('elsewhere.1')).toBeUndefined();
});
