import { expect, test } from 'vitest';
import { flushesOf } from './disk-flushes.ts';

const diskstats = [
  '   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0',
  ' 254       0 vda 97576 25522 2563370 56210 149903 360778 15997096 257484 0 62488 342512 41235 260 8703016 25690 37496 3126',
  '   8       1 sda1 5 0 5 5',
].join('\n');

test('disk flushes: only the flushes of the requested disk are read', () => {
  expect(flushesOf(diskstats, 254, 0)).toBe(37_496);
});

test.each([
  ['a disk without a cache', 7, 0],
  ['a kernel that does not count them', 8, 1],
  ['a disk that is not there', 9, 9],
])('disk flushes: are unknown for %s', (_what, major, minor) => {
  expect(flushesOf(diskstats, major, minor)).toBeNaN();
});
