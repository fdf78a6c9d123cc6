import { expect, test } from 'vitest';
import { isNewEnough, versionProblem } from './server-version.ts';

test.each([
  ['2.15.1', true],
  ['2.15.1-binary', true],
  ['2.15.2', true],
  ['2.16.0', true],
  ['3.0.0', true],
  ['2.15.1-RC.1', false],
  ['2.15.0', false],
  ['2.14.0', false],
  ['2.14.5', false],
  ['2.14.9', false],
  ['2.10.27', false],
  ['1.20.0', false],
  ['unreadable', false],
])('server version: %s is new enough: %s', (version, answer) => {
  expect(isNewEnough(version)).toBe(answer);
});

test('server version: an old version is named with the reason and what to do, an unknown version is accepted', () => {
  expect(versionProblem('2.14.5')).toMatch(
    /2\.14\.5 is older than 2\.15\.1.*may lose acknowledged events when the power fails.*run 2\.15\.1 or newer on the same data folder/,
  );
  expect(versionProblem('2.15.1')).toBeUndefined();
  expect(versionProblem(undefined)).toBeUndefined();
});
