import { expect, test } from 'vitest';
import { compileEligibility } from './eligibility.ts';
import { readPage } from './page.ts';

const rule = (parameter: string, value: string) => ({ parameter, operator: 'equals' as const, value });

test('eligibility: without patterns and rules every page will do', () => {
  const isEligible = compileEligibility([], []);
  expect(isEligible(readPage({ url: 'https://example.com/a?b=c' }))).toBe(true);
  expect(isEligible(readPage(undefined))).toBe(true);
});

test('eligibility: one pattern must match the url', () => {
  const isEligible = compileEligibility(['/pricing', '/blog/*'], []);
  expect(isEligible(readPage({ url: 'https://example.com/blog/a' }))).toBe(true);
  expect(isEligible(readPage({ url: 'https://example.com/about' }))).toBe(false);
  expect(isEligible(readPage({ url: 'nonsense' }))).toBe(false);
});

test('eligibility: every rule must hold for the search, or else for the query of the url', () => {
  const isEligible = compileEligibility([], [rule('a', '1'), rule('b', '2')]);
  expect(isEligible(readPage({ search: '?a=1&b=2' }))).toBe(true);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(false);
  expect(isEligible(readPage({ url: 'https://example.com/?b=2&a=1' }))).toBe(true);
  expect(isEligible(readPage({ url: 'https://example.com/' }))).toBe(false);
  expect(isEligible(readPage({ url: 'https://example.com/', search: '?a=1&b=2' }))).toBe(true);
});

test('eligibility: what the caller does not tell is not asked', () => {
  const isEligible = compileEligibility(['/pricing'], [rule('a', '1')]);
  expect(isEligible(readPage(undefined))).toBe(true);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(true);
  expect(isEligible(readPage({ search: '?a=2' }))).toBe(false);
});

test('eligibility: parameters named like members of an object are parameters', () => {
  const isEligible = compileEligibility([], [{ parameter: '__proto__', operator: 'not_exists' }]);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(true);
  expect(isEligible(readPage({ search: '?__proto__=1' }))).toBe(false);
});
