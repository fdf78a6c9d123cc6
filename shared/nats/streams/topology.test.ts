import { expect, test } from 'vitest';
import { streamConfigs, streamOf } from './topology.ts';
import { testTopology } from '../../testing/test-topology.ts';

const settings = testTopology();

test('topology: of every subject it is known which stream keeps it, so that its answers are believed', () => {
  for (const { name, subjects = [] } of streamConfigs(settings)) {
    expect(subjects.map((subject) => [subject, streamOf(subject)])).toEqual(subjects.map((subject) => [subject, name]));
  }
  expect(streamOf('elsewhere.1')).toBeUndefined();
});
