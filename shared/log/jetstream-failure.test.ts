import { ErrorCode, NatsError } from 'nats';
import { expect, test } from 'vitest';
import { jetStreamFailure } from './jetstream-failure.ts';

test('JetStream failure: a server without JetStream is told in words, and what others say is passed on', () => {
  expect(jetStreamFailure(new NatsError('503', ErrorCode.NoResponders))).toMatch(/runs without it \(nats-server -js\)/);
  expect(jetStreamFailure(new NatsError('insufficient resources', '10023'))).toBe('insufficient resources');
  expect(jetStreamFailure('odd')).toBe('odd');
});
