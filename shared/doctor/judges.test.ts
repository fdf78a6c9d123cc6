import { expect, test } from 'vitest';
import { fail, ok, warn, worstLevel } from './finding.ts';
import type { Finding } from './finding.ts';
import { judgeDurability } from './judge-log.ts';
import {
  judgeClock,
  judgeDiskSpace,
  judgeLogRoom,
  judgeOpenFiles,
  judgeSyncSpeed,
  parseOpenFilesLimit,
} from './judge-machine.ts';
import { judgeNatsServer, judgeNode, judgePostgres } from './judge-versions.ts';

const gibibyte = 1024 ** 3;

test.each<[string, Finding, Finding['level']]>([
  ['Node that is too old', judgeNode('20.18.1'), 'fail'],
  ['the oldest Node there may be', judgeNode('20.19.0'), 'ok'],
  ['a newer Node', judgeNode('24.1.0'), 'ok'],
  ['a nats-server that is too old', judgeNatsServer('2.12.15'), 'fail'],
  ['the oldest nats-server there may be', judgeNatsServer('2.15.1'), 'ok'],
  ['a release candidate', judgeNatsServer('2.16.0-RC.1'), 'ok'],
  ['a nats-server without a version', judgeNatsServer(undefined), 'warn'],
  ['an old PostgreSQL', judgePostgres(130_014), 'fail'],
  ['a PostgreSQL of today', judgePostgres(170_005), 'ok'],
  ['every write synced', judgeDurability({ mode: 'fsync', detail: '' }), 'ok'],
  ['writes synced now and then', judgeDurability({ mode: 'interval', flushEveryMs: 1, detail: '' }), 'warn'],
  ['unknown durability', judgeDurability({ mode: 'unknown', detail: '' }), 'warn'],
  ['the usual limit of open files', judgeOpenFiles(1_024), 'warn'],
  ['a raised limit of open files', judgeOpenFiles(1_048_576), 'ok'],
  ['no limit of open files', judgeOpenFiles(Number.POSITIVE_INFINITY), 'ok'],
  ['no word of open files', judgeOpenFiles(undefined), 'ok'],
  ['clocks that agree', judgeClock('x', -40, 5), 'ok'],
  ['clocks whose difference is uncertain', judgeClock('x', 2_000, 1_800), 'ok'],
  ['a clock that is slow', judgeClock('x', -3_000, 5), 'warn'],
  ['a clock of another hour', judgeClock('x', 3_600_000, 5), 'fail'],
  ['room enough', judgeDiskSpace('/x', 50 * gibibyte, 100 * gibibyte), 'ok'],
  ['little room', judgeDiskSpace('/x', 10 * gibibyte, 100 * gibibyte), 'warn'],
  ['no room', judgeDiskSpace('/x', gibibyte / 2, gibibyte), 'fail'],
  ['room for all that the streams may take', judgeLogRoom('/x', 5 * gibibyte, 4 * gibibyte), 'ok'],
  ['less room than the streams may take', judgeLogRoom('/x', 3 * gibibyte, 4 * gibibyte), 'warn'],
  ['a fast disk', judgeSyncSpeed('/x', 0.4), 'ok'],
  ['a slow disk', judgeSyncSpeed('/x', 25), 'warn'],
  ['a disk that will not do', judgeSyncSpeed('/x', 250), 'fail'],
])('doctor: %s', (_, finding, level) => {
  expect(finding.level).toBe(level);
  expect(finding.advice === undefined).toBe(level === 'ok');
});

test('doctor: the overall level is that of the worst finding', () => {
  const [good, poor, bad] = [ok('a', ''), warn('b', '', ''), fail('c', '', '')];
  expect(worstLevel([])).toBe('ok');
  expect(worstLevel([good, poor])).toBe('warn');
  expect(worstLevel([good, bad, poor])).toBe('fail');
});

test('doctor: the limit of open files is read as Linux writes it', () => {
  const limits = (soft: string): string =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 1048576              files\n`;
  expect(parseOpenFilesLimit(limits('1024'))).toBe(1_024);
  expect(parseOpenFilesLimit(limits('unlimited'))).toBe(Number.POSITIVE_INFINITY);
  expect(parseOpenFilesLimit('')).toBeUndefined();
});
