import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTime } from './message-time.ts';

const own = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'America/New_York';
});
afterEach(() => {
  if (own === undefined) delete process.env['TZ'];
  else process.env['TZ'] = own;
});

test.each([
  ['2020-08-16 09:03:11.913767', '2020-08-16T09:03:11.913Z'],
  ['2020-08-16T09:03:11.913767', '2020-08-16T09:03:11.913Z'],
  ['2020-08-16T09:03', '2020-08-16T09:03:00.000Z'],
  ['2020-08-16 09:03', '2020-08-16T09:03:00.000Z'],
  ['2020-08-16', '2020-08-16T00:00:00.000Z'],
  ['Aug 16 2020 09:03:11', '2020-08-16T09:03:11.000Z'],
  ['Sun, 16 Aug 2020 09:03:11', '2020-08-16T09:03:11.000Z'],
  ['08/16/2020 09:03:11', '2020-08-16T09:03:11.000Z'],
  ['2020-08-16 09:03:11+02:00', '2020-08-16T07:03:11.000Z'],
  ['2020-08-16T09:03:11+0200', '2020-08-16T07:03:11.000Z'],
  ['2020-08-16 09:03:11.5+02', '2020-08-16T07:03:11.500Z'],
  ['2020-08-16T09:03:11-05', '2020-08-16T14:03:11.000Z'],
  ['2020-08-16T09:03:11,913Z', '2020-08-16T09:03:11.913Z'],
  ['2020-08-16T09:03:11,5', '2020-08-16T09:03:11.500Z'],
  ['2020-08-16T09:03:11Z', '2020-08-16T09:03:11.000Z'],
  ['Sun, 16 Aug 2020 09:03:11 GMT', '2020-08-16T09:03:11.000Z'],
  ['Sun Aug 16 2020 09:03:11 GMT+0200 (Central European Summer Time)', '2020-08-16T07:03:11.000Z'],
  ['Aug 16 2020 09:03:11 EST', '2020-08-16T14:03:11.000Z'],
])('message time: %s is read the same in any time zone of the gateway', (text, expected) => {
  // In the time zone UTC the comparison below would prove nothing.
  expect(new Date(2026, 0, 1).getTimezoneOffset()).toBe(300);
  expect(new Date(readTime(text) ?? 0).toISOString()).toBe(expected);
});

test.each(['', 'soon', 'soon UTC', '2020-13-01T00:00', null, {}, Number.NaN])('message time: %s: no time', (value) => {
  expect(readTime(value)).toBeUndefined();
});
