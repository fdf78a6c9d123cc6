import { expect, test } from 'vitest';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { PublishError } from '../../shared/nats/publish/publisher.ts';
import { createReplayService } from './replay-service.ts';

/** A log whose bucket of replays holds nothing and has no room, or fails. */
function linkTo(connected: boolean, answer: () => Promise<void>): Pick<LogBuckets, 'connection' | 'buckets'> {
  const watch = async ({ onReady }: { readonly onReady: () => void }): Promise<{ stop(): void }> => {
    await answer();
    onReady();
    return { stop: () => undefined };
  };
  const put = (): Promise<number> => Promise.reject(new PublishError('full', 'bucket REPLAYS'));
  return { connection: { connected }, buckets: { replays: { watch, put } } } as unknown as LogBuckets;
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

test('replay service: if the bucket of replays is full, a 503 says so', async () => {
  const service = createReplayService(linkTo(true, nothing), noErasures);
  await expect(service.start('account', 'destination', { what: 'dead-letters' })).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('REPLAYS, or its disk, is full'),
  });
});
