import { expect, test } from 'vitest';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { createReplayService, deadLettersEnv, readDeadLetterBounds } from './replay-service.ts';

const bounds = readDeadLetterBounds(defaultsOf(deadLettersEnv));

/** A log whose bucket of replays holds nothing, or fails. */
function linkTo(connected: boolean, keys: () => Promise<string[]>): Pick<LogBuckets, 'connection' | 'buckets'> {
  return { connection: { connected }, buckets: { replays: { keys } } } as unknown as LogBuckets;
}

test('replay service: a log that is away, or does not answer, is a 503', async () => {
  const away = createReplayService(
    linkTo(false, async () => []),
    bounds,
  );
  await expect(away.list('destination')).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('log'),
  });
  const silent = createReplayService(
    linkTo(true, () => Promise.reject(new Error('TIMEOUT'))),
    bounds,
  );
  await expect(silent.list('destination')).rejects.toMatchObject({ status: 503 });
  expect(
    await createReplayService(
      linkTo(true, async () => []),
      bounds,
    ).list('destination'),
  ).toEqual([]);
});
