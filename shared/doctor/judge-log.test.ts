import { expect, test } from 'vitest';
import type { ConsumerReport, LogReport, StreamReport } from '../nats/monitor/inspect-log.ts';
import { judgeLog, judgeLogServer, judgeLosses } from './judge-log.ts';
import type { LogServer, LogServerStorage } from '../nats/monitor/read-log-servers.ts';
import { looksGiven } from '../nats/monitor/read-log-servers.ts';

const stream = (own: Partial<StreamReport> = {}): StreamReport => ({
  name: 'INGEST',
  differences: [],
  bytes: 0,
  bytesMax: 1_000,
  removesOldest: false,
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

test('doctor: a log with the settings that the code requires gives a single finding, which is good', () => {
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
  [
    'a stream that is nearly full',
    log({ streams: [stream({ bytes: 900 })] }),
    'warn',
    /refuses messages.*LOG_INGEST_BYTES_MAX/,
  ],
  [
    'a nearly full stream of erasures',
    log({ streams: [stream({ name: 'ERASURES', bytes: 900, removesOldest: true })] }),
    'warn',
    /^when full, it removes its oldest messages: its size is fixed$/,
  ],
  [
    'a nearly full stream of quarantined events',
    log({ streams: [stream({ name: 'QUARANTINE', bytes: 900, removesOldest: true })] }),
    'warn',
    /removes its oldest messages: raise LOG_INGEST_DEAD_LETTERS_BYTES_MAX/,
  ],
  [
    'a nearly full bucket',
    log({ streams: [stream({ name: 'KV_TOKENS', bytes: 900 })] }),
    'warn',
    /^when full, it refuses messages: its size is fixed$/,
  ],
  ['a copy that lags', log({ streams: [stream({ copies: 3, copiesCurrent: 2 })] }), 'warn', /nats-servers/],
  ['a stream that is not there', log({ streams: [stream({ differences: undefined })] }), 'warn', /first start/],
  [
    'a consumer that limits deliveries',
    log({ consumers: [consumer(otherwise('max_deliver'))] }),
    'fail',
    /nats consumer edit/,
  ],
  ['a consumer at its limit', log({ consumers: [consumer({ ackPending: 10 })] }), 'warn', /hangs/],
  ['streams larger than the account', log({ storageBytesMax: 999 }), 'fail', /raise the limit of the account/],
])('doctor: %s', (_, report, level, advice) => {
  const findings = judgeLog(report);
  expect(findings).toHaveLength(1);
  expect(findings[0]?.level).toBe(level);
  expect(findings[0]?.advice).toMatch(advice);
});

const gibibyte = 1024 ** 3;
const storage: LogServerStorage = {
  limitBytes: 20 * gibibyte,
  isLimitGiven: true,
  reservedBytes: gibibyte,
  usedBytes: 0,
};
const server: LogServer = {
  name: 'nats-1',
  version: '2.15.1',
  complaint: undefined,
  storage,
  areRoutesEncrypted: undefined,
};
const levelOf = (changed: LogServer, about: string) =>
  judgeLogServer(changed).find((finding) => finding.about === `${about} nats-1`);

test('doctor: a healthy nats-server gives only good findings', () => {
  expect(judgeLogServer(server).map(({ level }) => level)).toEqual(['ok', 'ok']);
});

test.each<[string, LogServer, string, string, RegExp]>([
  ['one that is too old', { ...server, version: '2.10.27' }, 'nats-server', 'fail', /2\.15\.1 or newer/],
  [
    'a stream that could not be written to',
    { ...server, complaint: "JetStream stream '$G > INGEST' write error: write 1.blk: no space left on device" },
    'health of',
    'fail',
    /make room.*restart/,
  ],
  [
    'one that catches up',
    { ...server, complaint: 'JetStream is not current with the meta leader' },
    'health of',
    'fail',
    /wait/,
  ],
  [
    'one that may store less than its streams',
    { ...server, storage: { ...storage, limitBytes: 1_048_576 } },
    'storage of',
    'fail',
    /max_file_store/,
  ],
  [
    'one that was given no limit',
    { ...server, storage: { ...storage, isLimitGiven: false } },
    'storage of',
    'warn',
    /max_file_store/,
  ],
])('doctor: %s is reported with advice', (_, changed, about, level, advice) => {
  expect(levelOf(changed, about)?.level).toBe(level);
  expect(levelOf(changed, about)?.advice).toMatch(advice);
});

test.each([
  [20 * gibibyte, true],
  [20_000_000_000, true],
  [150_994_944, true],
  // A limit that an operator computed.
  [12_345_678_901, true],
  // Three quarters of the free blocks, 4 KiB each.
  [(19_000_001 * 4_096 * 3) / 4, false],
  // Three quarters of the 110,409 bytes that the server itself uses on a full disk.
  [82_806, false],
  [0, false],
])('doctor: %i bytes is a limit that an operator set, not the server’s default: %s', (limitBytes, given) => {
  expect(looksGiven(limitBytes)).toBe(given);
});

test('doctor: a log without losses gives a single finding, which is good', () => {
  expect(judgeLosses(new Map([['EVENTS', { bytes: 0, seqs: [] }]]), [])).toMatchObject([{ level: 'ok' }]);
});

test('doctor: messages that the server lost or that readers skipped are named', () => {
  const seqs = Array.from({ length: 25 }, (_, n) => n + 1);
  const note = { stream: 'INGEST', subject: 'ingest.0', noticedAtMs: Date.UTC(2026, 0, 2) };
  const findings = judgeLosses(new Map([['EVENTS', { bytes: 875, seqs }]]), [
    { ...note, seq: 61 },
    { ...note, seq: 80, noticedAtMs: Date.UTC(2026, 0, 1) },
  ]);
  expect(findings.map(({ level, detail }) => [level, detail])).toEqual([
    ['fail', expect.stringMatching(/875 bytes of EVENTS .* sequences 1, 2, .*20 and 5 more$/)],
    ['fail', 'sequences 61, 80 of INGEST (ingest.0) were missing, last noticed at 2026-01-02T00:00:00.000Z'],
  ]);
});
