import { ErrorCode, NatsError } from 'nats';
import { expect, test } from 'vitest';
import { jetStreamFailure } from './server-error.ts';

test('JetStream failure: a server without JetStream is told in words, and what others say is passed on', () => {
  expect(jetStreamFailure(new NatsError('503', ErrorCode.NoResponders))).toMatch(/runs without it \(nats-server -js\)/);
  expect(jetStreamFailure(new NatsError('insufficient resources', '10023'))).toBe('insufficient resources');
  expect(jetStreamFailure('odd')).toBe('odd');
});

test('JetStream failure: a refusal is told in the words of the server, with the way out where it has no room', () => {
  const refusal = (err_code: number, description: string): NatsError => {
    const error = new NatsError('503', ErrorCode.Unknown);
    error.api_error = { code: 503, err_code, description };
    return error;
  };
  expect(jetStreamFailure(refusal(10_077, 'maximum messages exceeded'))).toBe('maximum messages exceeded');
  expect(jetStreamFailure(refusal(10_047, 'insufficient storage resources available'))).toMatch(
    /^insufficient storage resources available: .*max_file_store.*LOG_\*_BYTES_MAX$/,
  );
});
