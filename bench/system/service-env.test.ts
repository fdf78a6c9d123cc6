import { expect, test } from 'vitest';
import { serviceEnv } from './service-env.ts';

test('service env: --set overrides the bench’s settings, and the scenario’s variables are added', () => {
  expect(serviceEnv({ NATS_URL: 'nats://log' }, { LOG_LEVEL: 'error', FRAME_LINGER_MS: '2' })).toMatchObject({
    NATS_URL: 'nats://log',
    LOG_LEVEL: 'error',
    FRAME_LINGER_MS: '2',
    RATE_LIMIT_EVENTS_PER_S: '10000000',
    RATE_LIMIT_BYTES_PER_S: '10000000000',
  });
});

test('service env: --set of a variable that the scenario sets is refused', () => {
  expect(() => serviceEnv({ PIPELINE_THREADS: '1' }, { PIPELINE_THREADS: '4' })).toThrow(
    '--set PIPELINE_THREADS: the scenario sets it itself',
  );
});
