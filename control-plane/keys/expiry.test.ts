import { expect, test } from 'vitest';
import { readExpiry } from './api-key.ts';

const now = new Date('2030-01-01T00:00:00.000Z');

test.each([
  ['90d', '2030-04-01T00:00:00.000Z'],
  ['12h', '2030-01-01T12:00:00.000Z'],
  ['30m', '2030-01-01T00:30:00.000Z'],
  ['2w', '2030-01-15T00:00:00.000Z'],
  ['36599d', '2130-03-17T00:00:00.000Z'],
  ['2031-01-31', '2031-01-31T00:00:00.000Z'],
])('expiry: %s is %s', (text, expected) => {
  expect(readExpiry(text, now)?.toISOString()).toBe(expected);
});

test.each(['', '90', 'd', '-3d', '0d', '2029-12-31', '999999w', 'soon', '1e3d', '12hours', '36600d'])(
  'expiry: %s is refused',
  (text) => {
    expect(readExpiry(text, now)).toBeUndefined();
  },
);
