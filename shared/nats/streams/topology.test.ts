import { expect, test } from 'vitest';
import { streamConfigs, streamOf } from './topology.ts';
import { testTopology } from '../../testing/test-topology.ts';

const settings = testTopology();

test('topology: streamOf names the stream that stores each subject, so that its acknowledgements are accepted', () => {
  for (const { name, subjects = [] } of streamConfigs(settings)) {
    expect(subjects.map((subject) => [subject, streamOf(subject)])).toEqual(subjects.map((subject) => [subject, name]));
  }
  expect(streamOf('elsewhere.1')).toBeUndefined();
});
