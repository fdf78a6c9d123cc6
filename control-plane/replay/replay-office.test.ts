import { expect, test } from 'vitest';
import type { LogLink } from '../push/log-link.ts';
import { createReplayOffice } from './replay-office.ts';

/** A log whose bucket of replays holds nothing, or fails. */
function linkTo(connected: boolean, keys: () => Promise<string[]>): Pick<LogLink, 'connection' | 'buckets'> {
  return { connection: { connected }, buckets: { replays: { keys } } } as unknown as LogLink;
}

test('replay office: a log that is away, or does not answer, is a 503', async () => {
  const away = createReplayOffice(linkTo(false, async () => []));
  await expect(away.list('destination')).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('log'),
  });
  const silent = createReplayOffice(linkTo(true, () => Promise.reject(new Error('TIMEOUT'))));
  await expect(silent.list('destination')).rejects.toMatchObject({ status: 503 });
  expect(await createReplayOffice(linkTo(true, async () => [])).list('destination')).toEqual([]);
});
