import { expect, test } from 'vitest';
import { decodeAccountConfig } from './config/account-config.ts';
import { readEnvelope } from './events/envelope.ts';
import { parseResolved } from './events/resolved-event.ts';
import { parseRetryRecord } from './events/retry-record.ts';
import { refusedVersion } from './log-format.ts';

test('log format: a newer version is refused with advice, any other as unknown', () => {
  expect(refusedVersion(2, 1)).toBe(
    'version 2 is newer than this build reads (1): run the version of Sluice that wrote it',
  );
  expect(refusedVersion('x', 1)).toBe('version x is unknown');
  expect(refusedVersion(undefined, 1)).toBe('version undefined is unknown');
});

test('log format: an envelope of a version newer than 2 is refused', () => {
  expect(() => readEnvelope('{"v":3}')).toThrow('version 3 is newer than this build reads (2)');
});

test.each([
  ['a resolved event', () => parseResolved('{"v":2}')],
  ['a retry record', () => parseRetryRecord('{"v":2}')],
  ['a configuration', () => decodeAccountConfig(Buffer.from('{"format":2}'))],
])('log format: %s of a newer version is refused with advice', (_what, read) => {
  expect(read).toThrow(/^reading .*version 2 is newer than this build reads \(1\): run the version of Sluice/);
});
