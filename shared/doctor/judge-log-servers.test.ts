import { expect, test } from 'vitest';
import { judgeLogServer } from './judge-log-servers.ts';
import { looksGiven } from '../nats/monitor/read-log-servers.ts';
import type { LogServer, LogServerStorage } from '../nats/monitor/read-log-servers.ts';

const gibibyte = 1024 ** 3;
const storage: LogServerStorage = {
  limitBytes: 20 * gibibyte,
  isLimitGiven: true,
  reservedBytes: gibibyte,
  usedBytes: 0,
};
const server: LogServer = { name: 'nats-1', version: '2.15.1', complaint: undefined, storage };
const levelOf = (changed: LogServer, about: string) =>
  judgeLogServer(changed).find((finding) => finding.about === `${about} nats-1`);

test('doctor: a nats-server that is well is well', () => {
  expect(judgeLogServer(server).map(({ level }) => level)).toEqual(['ok', 'ok']);
});

test.each<[string, LogServer, string, string, RegExp]>([
  ['one that is too old', { ...server, version: '2.10.27' }, 'nats-server', 'fail', /2\.14 or newer/],
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
])('doctor: %s is told with what to do', (_, changed, about, level, advice) => {
  expect(levelOf(changed, about)?.level).toBe(level);
  expect(levelOf(changed, about)?.advice).toMatch(advice);
});

test.each([
  [20 * gibibyte, true],
  [20_000_000_000, true],
  [150_994_944, true],
  // Somebody's own arithmetic.
  [12_345_678_901, true],
  // Three quarters of the free blocks, 4 KiB each.
  [(19_000_001 * 4_096 * 3) / 4, false],
  // The same of 110,409 bytes on a disk that is full.
  [82_806, false],
  [0, false],
])('doctor: a limit of %i bytes was given: %s', (limitBytes, given) => {
  expect(looksGiven(limitBytes)).toBe(given);
});
