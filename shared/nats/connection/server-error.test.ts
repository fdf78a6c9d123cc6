import { ErrorCode, NatsError } from 'nats';
import { expect, test } from 'vitest';
import { isLogUnavailable, jetStreamFailure } from './server-error.ts';

test('JetStream failure: a server without JetStream is explained, and other messages are returned unchanged', () => {
  expect(jetStreamFailure(new NatsError('503', ErrorCode.NoResponders))).toMatch(
    /runs without it \(start it as nats-server -js\)/,
  );
  expect(jetStreamFailure(new NatsError('insufficient resources', '10023'))).toBe('insufficient resources');
  expect(jetStreamFailure('odd')).toBe('odd');
});

test('JetStream failure: a refusal has the words of the server, with advice if the server has no room', () => {
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

test('log unavailable: no answer or a temporary refusal counts as an unavailable log, at any depth of the cause', () => {
  const refusal = (code: number, err_code: number): NatsError => {
    const error = new NatsError('refused', ErrorCode.Unknown);
    error.api_error = { code, err_code, description: 'refused' };
    return error;
  };
  const wrapped = (cause: Error): Error => new Error('taking over consumer c', { cause });
  const away = [new NatsError('503', ErrorCode.NoResponders), new NatsError('timeout', ErrorCode.Timeout)];
  for (const error of [...away, refusal(503, 10_008), refusal(500, 10_047)]) {
    expect([isLogUnavailable(error), isLogUnavailable(wrapped(error))]).toEqual([true, true]);
  }
  for (const error of [refusal(400, 10_071), wrapped(refusal(404, 10_059)), new Error('a bug'), 'text', undefined]) {
    expect(isLogUnavailable(error)).toBe(false);
  }
});
