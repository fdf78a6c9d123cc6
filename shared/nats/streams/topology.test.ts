import { expect, test } from 'vitest';
import { streamConfigs, streamOf } from './topology.ts';

const bytesMax = 1024 ** 2;
const settings = {
  partitions: 1,
  replicas: 1,
  ingestBytesMax: bytesMax,
  eventsBytesMax: bytesMax,
  retryBytesMax: bytesMax,
  deadLetterBytesMax: bytesMax,
  deduplicationBytesMax: bytesMax,
  consumersMax: 2_000,
};

test('topology: of every subject it is known which stream keeps it, so that its answers are believed', () => {
  for (const { name, subjects = [] } of streamConfigs(settings)) {
    expect(subjects.map((subject) => [subject, streamOf(subject)])).toEqual(subjects.map((subject) => [subject, name]));
  }
  expect(streamOf('elsewhere.1')).toBeUndefined();
});
