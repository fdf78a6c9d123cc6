import { expect, test } from 'vitest';
import type { Principal } from '../api/define-endpoint.ts';
import { rulesToRelease } from './release-held.ts';

const keyWith = (...scopes: string[]): Principal =>
  ({ id: 'key', accountId: 'account', scopes }) as unknown as Principal;

test.each([
  ['not an id', [], 403],
  ['not an id', ['quarantine:release'], 400],
  ['rule-1', [], 403],
])('rulesToRelease: the rule "%s" with the scopes %j is refused with %d', (rule, scopes, status) => {
  expect(() => rulesToRelease(keyWith(...scopes), [rule])).toThrow(expect.objectContaining({ status }));
});

test('rulesToRelease: without rules no scope is needed', () => {
  expect([undefined, null, []].map((rules) => rulesToRelease(keyWith(), rules))).toEqual([[], [], []]);
  expect(rulesToRelease(keyWith('quarantine:release'), ['rule-1'])).toEqual(['rule-1']);
});
