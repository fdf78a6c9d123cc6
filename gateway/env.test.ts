import { expect, test } from 'vitest';
import { EnvError } from '../shared/runtime/env.ts';
import { readGatewayEnv } from './env.ts';

test('gateway environment: defaults are the limits of the contract', () => {
  expect(readGatewayEnv({})).toMatchObject({
    GATEWAY_PORT: 8080,
    GATEWAY_METRICS_PORT: 9080,
    TRACK_BODY_BYTES_MAX: 1024 ** 2,
    BATCH_BODY_BYTES_MAX: 5 * 1024 ** 2,
    BATCH_ROWS_MAX: 1000,
    ROW_BYTES_MAX: 64 * 1024,
    TIME_PAST_MS_MAX: 7 * 86_400_000,
    RATE_LIMIT_EVENTS_PER_S: 10_000,
    RATE_LIMIT_BYTES_PER_S: 16 * 1024 ** 2,
    TRUSTED_PROXIES: '',
  });
});

test('gateway environment: every problem is named at once', () => {
  const read = () =>
    readGatewayEnv({ GATEWAY_PORT: '99999', BATCH_ROWS_MAX: 'many', TRUSTED_PROXIES: '10.0.0.0/8,proxy' });
  const problems = problemsOf(read);
  expect(problems).toHaveLength(3);
  for (const name of ['GATEWAY_PORT', 'BATCH_ROWS_MAX', 'TRUSTED_PROXIES']) {
    expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
  }
});

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    return error instanceof EnvError ? error.problems : [String(error)];
  }
}
