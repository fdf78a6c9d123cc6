import { expect, test } from 'vitest';
import {
  normaliseDateOfBirth,
  normaliseGender,
  normaliseLetters,
  normalisePhone,
  normaliseState,
  normaliseZip,
} from './personal-data.ts';

test.each([
  ['(650) 555-1212', '16505551212'],
  ['650.555.1212', '16505551212'],
  ['+1 (650) 555-1212', '16505551212'],
  ['1-650-555-1212', '16505551212'],
  ['+44 20 7946 0958', '442079460958'],
  ['0044 20 7946 0958', '442079460958'],
  ['+49 (0)30 123456', '4930123456'],
  ['06 12 34 56 78', '612345678'],
  ['+6505551212', '6505551212'],
  ['(650) 555-1212 ext. 5', '16505551212'],
  ['650-555-1212x99', '16505551212'],
  ['tel:+1-650-555-1212;ext=5', '16505551212'],
  ['123', undefined],
  ['1234567890123456', undefined],
  ['call me', undefined],
  ['', undefined],
  ['5'.repeat(101), undefined],
])('phone: %s: is %s', (text, expected) => {
  expect(normalisePhone(text)).toBe(expected);
});

test.each([
  ['9876543210', 'in', '919876543210'],
  ['098765 43210', 'IN', '919876543210'],
  ['06 12 34 56 78', 'fr', '33612345678'],
  ['030 123456', 'de', '4930123456'],
  ['020 7946 0958', 'gb', '442079460958'],
  ['(650) 555-1212', 'us', '16505551212'],
  ['+44 20 7946 0958', 'in', '442079460958'],
  ['0044 20 7946 0958', 'in', '442079460958'],
  ['(650) 555-1212', 'xx', '16505551212'],
  ['123', 'in', undefined],
  ['call me', 'in', undefined],
])('phone: %s of a visitor in %s: is %s', (text, country, expected) => {
  expect(normalisePhone(text, country)).toBe(expected);
});

test.each([
  ['1997-02-16', '19970216'],
  ['1997-2-6', '19970206'],
  ['1997/02/16', '19970216'],
  ['19970216', '19970216'],
  ['1997-02-16T00:00:00Z', '19970216'],
  ['2/16/1997', '19970216'],
  ['02-03-1997', '19970203'],
  ['16/2/1997', '19970216'],
  ['16.02.1997', '19970216'],
  ['02.03.1997', '19970302'],
  ['856051200000', '19970216'],
  ['-315619200000', '19600101'],
  ['1997216', undefined],
  ['1997-02-30', undefined],
  ['1897-02-16', undefined],
  ['2/16/97', undefined],
  ['13/13/1997', undefined],
  ['February', undefined],
  ['', undefined],
  [`1997-02-16 ${'x'.repeat(40)}`, undefined],
])('date of birth: %s: is %s', (text, expected) => {
  expect(normaliseDateOfBirth(text)).toBe(expected);
});

test.each([
  ['California', 'ca'],
  ['CA', 'ca'],
  ['US-CA', 'ca'],
  ['new york', 'ny'],
  ['Washington, D.C.', 'dc'],
  ['Bayern', 'bayern'],
  ['New South Wales', 'newsouthwales'],
])('state, zip, gender, letters: state %s: is %s', (text, expected) => {
  expect(normaliseState(text)).toBe(expected);
});

test.each([
  ['94035', '94035'],
  ['94035-1234', '94035'],
  ['940351234', '94035'],
  ['M1 1AE', 'm11'],
  ['SW1A 1AA', 'sw1a1'],
  ['K1A 0B1', 'k1a0b1'],
  ['01310-100', '01310100'],
  ['D-80331', 'd80331'],
])('state, zip, gender, letters: zip %s: is %s', (text, expected) => {
  expect(normaliseZip(text)).toBe(expected);
});

test.each([
  ['F', 'f'],
  [' female ', 'f'],
  ['Woman', 'f'],
  ['male', 'm'],
  ['M', 'm'],
  ['nonbinary', undefined],
  ['', undefined],
])('state, zip, gender, letters: gender %s: is %s', (text, expected) => {
  expect(normaliseGender(text)).toBe(expected);
});

test.each([
  ["St. John's", 'stjohns'],
  ['Łódź 2', 'łódź2'],
  ['東京', '東京'],
  ['!?', ''],
])('state, zip, gender, letters: letters of %s: are %s', (text, expected) => {
  expect(normaliseLetters(text)).toBe(expected);
});
