import { expect, test } from 'vitest';
import { isNewEnough, versionProblem } from './server-version.ts';

test.each([
  ['2.14.0', true],
  ['2.15.1-binary', true],
  ['2.15.1', true],
  ['3.0.0', true],
  ['2.10.27', false],
  ['2.12.15', false],
  ['1.20.0', false],
])('server version: %s is new enough: %s', (version, answer) => {
  expect(isNewEnough(version)).toBe(answer);
});

test('server version: one that is too old is told with what to do, one that is not known is taken', () => {
  expect(versionProblem('2.10.27')).toMatch(
    /2\.10\.27 is older than 2\.14.*: run 2\.14 or newer on the same data folder/,
  );
  expect(versionProblem('2.15.1')).toBeUndefined();
  expect(versionProblem(undefined)).toBeUndefined();
});
