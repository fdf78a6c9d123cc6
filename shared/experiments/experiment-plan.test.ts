import { expect, test } from 'vitest';
import { hashSourceKey } from '../contracts/config/account-config.ts';
import type { ExperimentForTests } from './testing/config-for-tests.ts';
import { configForTests, evenVariants, planForTests } from './testing/config-for-tests.ts';
import { compileEligibility, compileExperimentPlan } from './experiment-plan.ts';
import { readPage } from './page.ts';

const problemsOf = (...experiments: readonly ExperimentForTests[]) =>
  compileExperimentPlan(configForTests(experiments)).unplanned.map(({ problem }) => problem);

test('plan: experiments that were started are found by their key, drafts are not', () => {
  const plan = planForTests(
    { id: 'e1', key: 'first', trafficAllocation: 12.5 },
    { id: 'e2', key: 'second', status: 'Paused' },
    { id: 'e3', key: 'third', status: 'Completed', rolloutVariantId: 'new' },
    { id: 'e4', key: 'fourth', status: 'Draft' },
  );
  expect([...plan.byKey.keys()]).toEqual(['first', 'second', 'third']);
  expect(plan.byKey.get('first')).toMatchObject({
    id: 'e1',
    status: 'Running',
    allocationEnd: 1250,
    rollout: undefined,
  });
  expect(plan.byKey.get('third')?.rollout?.id).toBe('new');
});

test('plan: if the settings are disabled no experiment runs, and their token stays valid', () => {
  const token = `exp_${'a'.repeat(32)}`;
  const off = { experimentSettings: [{ id: 'settings', isEnabled: false, token }] };
  const plan = compileExperimentPlan(configForTests([{ id: 'e' }], off));
  expect([plan.byKey.size, plan.tokens.size]).toEqual([0, 1]);
});

test('plan: a personalization takes all visitors', () => {
  const plan = planForTests({ id: 'e', type: 'personalization', trafficAllocation: 10 });
  expect(plan.byKey.get('e')?.allocationEnd).toBe(10_000);
});

test('plan: an experiment that cannot run is left out, and the other experiments run', () => {
  const config = configForTests([{ id: 'bad', urlPatterns: ['/a b'] }, { id: 'good' }]);
  const plan = compileExperimentPlan(config);
  expect([...plan.byKey.keys()]).toEqual(['good']);
  expect(plan.unplanned).toMatchObject([{ experimentId: 'bad' }]);
});

test('plan: says why an experiment cannot run', () => {
  const [control = { id: 'control' }, other = { id: 'new' }] = evenVariants;
  expect(problemsOf({ id: 'e', variants: [other, { ...other, id: 'x' }] })).toEqual([
    'isControl must be true for exactly one variant',
  ]);
  expect(problemsOf({ id: 'e', variants: [control] })).toEqual(['variants must be at least 2 to start']);
  expect(problemsOf({ id: 'e', variants: [control, { ...other, weight: 'x' }] })).toEqual([
    'weight of variant new is missing or not valid',
  ]);
  expect(problemsOf({ id: 'e', trafficAllocation: 101 })).toEqual(['trafficAllocation is missing or not valid']);
  expect(problemsOf({ id: 'e', status: 'Completed', rolloutVariantId: 'gone' })).toEqual([
    'rolloutVariantId must be a variant of the experiment',
  ]);
  expect(problemsOf({ id: 'e', queryRules: [{ parameter: 'p', operator: 'regex', value: '(' }] })[0]).toMatch('RE2');
  expect(problemsOf({ id: 'e1', key: 'k' }, { id: 'e2', key: 'k' })).toEqual(['its key is used by another experiment']);
});

test('plan: takes the experiment token and the keys of enabled sources', () => {
  const token = `exp_${'a'.repeat(32)}`;
  const config = configForTests([], {
    experimentSettings: [{ id: 'settings', token, whitelistDomains: ['example.com'] }],
    sources: [
      { id: 's1', type: 'WebSource', status: 'Enabled' },
      { id: 's2', type: 'WebSource', status: 'Disabled' },
    ],
  });
  const keys = ['s1', 's2', 's3'].flatMap((sourceId) => [
    { keyHash: hashSourceKey(`${sourceId} live`), sourceId, test: false },
    { keyHash: hashSourceKey(`${sourceId} test`), sourceId, test: true },
  ]);
  const { tokens } = compileExperimentPlan({ ...config, sourceKeys: keys });
  expect(tokens.size).toBe(3);
  const own = tokens.get(hashSourceKey(token));
  expect(own?.kind).toBe('experiments');
  expect(['shop.example.com', 'example.org'].map((host) => own?.domains?.has(host))).toEqual([true, false]);
  expect(tokens.get(hashSourceKey('s1 live'))).toEqual({ kind: 'source', sourceId: 's1', test: false });
  expect(tokens.get(hashSourceKey('s1 test'))).toEqual({ kind: 'source', sourceId: 's1', test: true });
});

const rule = (parameter: string, value: string) => ({ parameter, operator: 'equals' as const, value });

test('eligibility: without patterns and rules every page is eligible', () => {
  const isEligible = compileEligibility([], []);
  expect(isEligible(readPage({ url: 'https://example.com/a?b=c' }))).toBe(true);
  expect(isEligible(readPage(undefined))).toBe(true);
});

test('eligibility: at least one pattern must match the url', () => {
  const isEligible = compileEligibility(['/pricing', '/blog/*'], []);
  expect(isEligible(readPage({ url: 'https://example.com/blog/a' }))).toBe(true);
  expect(isEligible(readPage({ url: 'https://example.com/about' }))).toBe(false);
  expect(isEligible(readPage({ url: 'nonsense' }))).toBe(false);
});

test('eligibility: every rule must hold for `search` or, if it is missing, for the query of the url', () => {
  const isEligible = compileEligibility([], [rule('a', '1'), rule('b', '2')]);
  expect(isEligible(readPage({ search: '?a=1&b=2' }))).toBe(true);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(false);
  expect(isEligible(readPage({ url: 'https://example.com/?b=2&a=1' }))).toBe(true);
  expect(isEligible(readPage({ url: 'https://example.com/' }))).toBe(false);
  expect(isEligible(readPage({ url: 'https://example.com/', search: '?a=1&b=2' }))).toBe(true);
});

test('eligibility: patterns and rules about values that the caller does not send are not checked', () => {
  const isEligible = compileEligibility(['/pricing'], [rule('a', '1')]);
  expect(isEligible(readPage(undefined))).toBe(true);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(true);
  expect(isEligible(readPage({ search: '?a=2' }))).toBe(false);
});

test('eligibility: parameters named like built-in members of objects are ordinary parameters', () => {
  const isEligible = compileEligibility([], [{ parameter: '__proto__', operator: 'not_exists' }]);
  expect(isEligible(readPage({ search: '?a=1' }))).toBe(true);
  expect(isEligible(readPage({ search: '?__proto__=1' }))).toBe(false);
});
