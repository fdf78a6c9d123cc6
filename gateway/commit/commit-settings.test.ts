import { expect, test } from 'vitest';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { commitEnv, readCommitSettings } from './commit-settings.ts';

const log = { partitions: 2, replicas: 1, messageBytesMax: 1024 ** 2 };

test('commit settings: with a replicated log, rounds are longer and hold more bytes', () => {
  const env = defaultsOf(commitEnv);
  expect(readCommitSettings(env, log)).toMatchObject({ rounds: { usualMs: 10 }, roundBytes: 24 * 1024 });
  expect(readCommitSettings(env, { ...log, replicas: 3 })).toMatchObject({
    rounds: { usualMs: 15 },
    roundBytes: 128 * 1024,
  });
});

test('commit settings: FRAME_ROUND_MS applies with and without replicas', () => {
  const env = { ...defaultsOf(commitEnv), FRAME_ROUND_MS: 0 };
  for (const replicas of [1, 3])
    expect(readCommitSettings(env, { ...log, replicas })).toMatchObject({ rounds: { usualMs: 0 } });
});

test('commit settings: a frame leaves room for its headers in the largest message of the log', () => {
  const small = { ...log, messageBytesMax: 64 * 1024 };
  const { frameBytesMax } = readCommitSettings(defaultsOf(commitEnv), small);
  expect(frameBytesMax).toBeLessThanOrEqual(small.messageBytesMax - 200);
});
