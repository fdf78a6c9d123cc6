import { expect, test } from 'vitest';
import type { ConsumerReport, LogReport, StreamReport } from '../nats/monitor/inspect-log.ts';
import { judgeLog } from './judge-log.ts';

const stream = (own: Partial<StreamReport> = {}): StreamReport => ({
  name: 'INGEST',
  differences: [],
  bytes: 0,
  bytesMax: 1_000,
  copiesCurrent: undefined,
  copies: 1,
  ...own,
});
const consumer = (own: Partial<ConsumerReport> = {}): ConsumerReport => ({
  stream: 'INGEST',
  name: 'resolver-0',
  differences: [],
  ackPending: 0,
  ackPendingMax: 10,
  waiting: 0,
  ...own,
});
const log = (own: Partial<LogReport>): LogReport => ({
  streams: [stream()],
  consumers: [consumer()],
  storageBytesMax: undefined,
  ...own,
});
const otherwise = (setting: string) => ({ differences: [{ setting, wanted: 'a', found: 'b' }] });

test('doctor: a log that is as the code wants it is one good finding', () => {
  expect(judgeLog(log({}))).toMatchObject([{ level: 'ok' }]);
});

test.each<[string, LogReport, string, RegExp]>([
  [
    'a stream that discards old events',
    log({ streams: [stream(otherwise('discard'))] }),
    'fail',
    /nats stream edit INGEST/,
  ],
  ['a limit of another size', log({ streams: [stream(otherwise('max_bytes'))] }), 'warn', /next service that starts/],
  ['another number of partitions', log({ streams: [stream(otherwise('metadata'))] }), 'warn', /LOG_PARTITIONS/],
  ['a window of another length', log({ streams: [stream(otherwise('duplicate_window'))] }), 'warn', /edit/],
  ['a stream that is nearly full', log({ streams: [stream({ bytes: 900 })] }), 'warn', /LOG_\*_BYTES_MAX/],
  ['a copy that is behind', log({ streams: [stream({ copies: 3, copiesCurrent: 2 })] }), 'warn', /nats-servers/],
  ['a stream that is not there', log({ streams: [stream({ differences: undefined })] }), 'warn', /first start/],
  ['a consumer that gives up', log({ consumers: [consumer(otherwise('max_deliver'))] }), 'fail', /nats consumer edit/],
  ['a consumer at its limit', log({ consumers: [consumer({ ackPending: 10 })] }), 'warn', /hangs/],
  ['streams larger than the account', log({ storageBytesMax: 999 }), 'fail', /raise the account/],
])('doctor: %s', (_, report, level, advice) => {
  const findings = judgeLog(report);
  expect(findings).toHaveLength(1);
  expect(findings[0]?.level).toBe(level);
  expect(findings[0]?.advice).toMatch(advice);
});
