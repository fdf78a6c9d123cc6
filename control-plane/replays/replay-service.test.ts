import { expect, test } from 'vitest';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { createReplayService } from './replay-service.ts';

/** A log whose bucket of replays holds nothing, or fails. */
function linkTo(connected: boolean, answer: () => Promise<void>): Pick<LogBuckets, 'connection' | 'buckets'> {
  const watch = async ({ onReady }: { readonly onReady: () => void }): Promise<{ stop(): void }> => {
    await answer();
    onReady();
    return { stop: () => undefined };
  };
  return { connection: { connected }, buckets: { replays: { watch } } } as unknown as LogBuckets;
}

const noErasures = { isEventErased: () => false, untilCurrent: () => Promise.resolve() };
const nothing = (): Promise<void> => Promise.resolve();

test('replay service: a log that is away, or does not answer, is a 503', async () => {
  const away = createReplayService(linkTo(false, nothing), noErasures);
  await expect(away.list('destination')).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('log'),
  });
  const silent = createReplayService(
    linkTo(true, () => Promise.reject(new Error('TIMEOUT'))),
    noErasures,
  );
  await expect(silent.list('destination')).rejects.toMatchObject({ status: 503 });
  expect(await createReplayService(linkTo(true, nothing), noErasures).list('destination')).toEqual([]);
});
