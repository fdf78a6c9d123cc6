import { expect, test } from 'vitest';

import { parseNatsVersion } from './nats-binary.ts';

test.each([
  ['nats-server: v2.15.1\n', '2.15.1'],
  ['nats-server: v2.15.1-binary', '2.15.1-binary'],
  ['nats-server: 2.9.10', '2.9.10'],
  ['nats-server: v2.12.0-RC.1\r\n', '2.12.0-RC.1'],
  ['nats: v2.15.1', undefined],
  ['', undefined],
])('nats version: %j is read as %s', (output, version) => {
  expect(parseNatsVersion(output)).toBe(version);
});
