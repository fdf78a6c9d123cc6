import { expect, test } from 'vitest';
import { decodeAccountConfig } from './config/account-config.ts';
import { readEnvelope } from './events/envelope.ts';
import { parseResolved } from './events/resolved-event.ts';
import { parseRetryRecord } from './events/retry-record.ts';
import { refusedVersion } from './log-format.ts';

test('log format: a newer version is refused with what to do, any other one as unknown', () => {
  expect(refusedVersion(2, 1)).toBe(
    'version 2 is newer than this build reads (1): run the version of Sluice that wrote it',
  );
  expect(refusedVersion('x', 1)).toBe('version x is unknown');
  expect(refusedVersion(undefined, 1)).toBe('version undefined is unknown');
});

test.each([
  ['an envelope', () => readEnvelope('{"v":2}')],
  ['a resolved event', () => parseResolved('{"v":2}')],
  ['a retry record', () => parseRetryRecord('{"v":2}')],
  ['a configuration', () => decodeAccountConfig(Buffer.from('{"format":2}'))],
])('log format: %s of a newer version is refused with what to do', (_what, read) => {
  expect(read).toThrow(/^reading .*version 2 is newer than this build reads \(1\): run the version of Sluice/);
});
