import { expect, test } from 'vitest';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { commitEnv, readCommitSettings } from './commit-settings.ts';

const log = { partitions: 2, replicas: 1, messageBytesMax: 1024 ** 2 };

test('a replicated log has fewer and fuller rounds', () => {
  const env = defaultsOf(commitEnv);
  expect(readCommitSettings(env, log)).toMatchObject({ rounds: { usualMs: 10 }, roundBytes: 24 * 1024 });
  expect(readCommitSettings(env, { ...log, replicas: 3 })).toMatchObject({
    rounds: { usualMs: 15 },
    roundBytes: 128 * 1024,
  });
});

test('rounds that are given hold on any log', () => {
  const env = { ...defaultsOf(commitEnv), FRAME_ROUND_MS: 0, FRAME_ROUND_BYTES: 1 };
  for (const replicas of [1, 3])
    expect(readCommitSettings(env, { ...log, replicas })).toMatchObject({ rounds: { usualMs: 0 }, roundBytes: 1 });
});

test('a frame leaves room for its headers in the largest message of the log', () => {
  const env = { ...defaultsOf(commitEnv), FRAME_BYTES_MAX: log.messageBytesMax };
  expect(readCommitSettings(env, log).frameBytesMax).toBeLessThanOrEqual(log.messageBytesMax - 200);
});
