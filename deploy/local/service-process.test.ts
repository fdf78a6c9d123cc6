import { expect, test } from 'vitest';
import { readProblem } from './service-process.ts';

test.each([
  ['{"level":30,"msg":"gateway listening","port":8080}', undefined],
  [
    '{"level":40,"time":"t","component":"pipeline","msg":"breaker opened","destinationId":"d1"}',
    'breaker opened {"destinationId":"d1"}',
  ],
  ['{"level":50,"msg":"start failed","err":{"message":"connecting to NATS"}}', 'start failed: connecting to NATS'],
  ['Error: something a library printed', 'Error: something a library printed'],
  ['{ not json', '{ not json'],
  ['', undefined],
])('service log: %s shows as %s', (line, shown) => {
  expect(readProblem(line)).toBe(shown);
});
