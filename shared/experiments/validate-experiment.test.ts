import { expect, test } from 'vitest';
import type { ExperimentBody, ExperimentVariant } from './experiment-bodies.ts';
import { experimentDefaults, experimentVariantDefaults, generateExperimentSettings } from './experiment-bodies.ts';
import { checkExperiment, checkExperimentSettings, checkStart, checkVariant } from './validate-experiment.ts';
import { checkVariantChange, checkVariants } from './validate-experiment.ts';

const experiment = (given: Partial<ExperimentBody> = {}): ExperimentBody => ({
  ...experimentDefaults,
  urlPatterns: [],
  queryRules: [],
  name: 'Experiment',
  key: 'key',
  ...given,
});
const variant = (id: string, given: Partial<ExperimentVariant> = {}): ExperimentVariant => ({
  ...experimentVariantDefaults,
  id,
  experimentId: 'e',
  name: id,
  ...given,
});
const control = variant('control', { isControl: true });
const fields = (problems: readonly { readonly field: string }[]): string[] => problems.map(({ field }) => field);

test('validation: a plain experiment with a control and a variant may start', () => {
  expect(checkStart(experiment(), [control, variant('new', { weight: 50 })])).toEqual([]);
});

test('validation: patterns and rules are compiled, and an error names those that cannot run', () => {
  const given = experiment({
    urlPatterns: ['/fine', '/a b'],
    queryRules: [
      { parameter: 'p', operator: 'regex', value: '(' },
      { parameter: 'p', operator: 'equals' },
      { parameter: 'p', operator: 'exists', value: 'x' },
      { parameter: 'p', operator: 'exists' },
    ],
  });
  expect(fields(checkExperiment(given))).toEqual([
    'urlPatterns[1]',
    'queryRules[0].value',
    'queryRules[1].value',
    'queryRules[2].value',
  ]);
});

test('validation: percentages have at most two decimals', () => {
  expect(checkExperiment(experiment({ trafficAllocation: 33.33 }))).toEqual([]);
  expect(fields(checkExperiment(experiment({ trafficAllocation: 33.333 })))).toEqual(['trafficAllocation']);
  expect(checkVariant(variant('v', { weight: 0.07 }))).toEqual([]);
  expect(fields(checkVariant(variant('v', { weight: 0.001 })))).toEqual(['weight']);
});

test('validation: a personalization must not set an allocation', () => {
  expect(fields(checkExperiment(experiment({ type: 'personalization', trafficAllocation: 50 })))).toEqual([
    'trafficAllocation',
  ]);
});

test('validation: only a completed experiment may have a rollout, and only to one of its own variants', () => {
  expect(fields(checkExperiment(experiment({ rolloutVariantId: 'new' })))).toEqual(['rolloutVariantId']);
  const completed = experiment({ status: 'Completed', rolloutVariantId: 'new' });
  expect(checkExperiment(completed)).toEqual([]);
  expect(checkVariants(completed, [control, variant('new')])).toEqual([]);
  expect(fields(checkVariants(completed, [control, variant('other')]))).toEqual(['rolloutVariantId']);
});

test('validation: a draft may lack variants, but may not have two controls', () => {
  expect(checkVariants(experiment(), [])).toEqual([]);
  expect(checkVariants(experiment(), [variant('new')])).toEqual([]);
  expect(fields(checkVariants(experiment(), [control, variant('x', { isControl: true })]))).toEqual(['isControl']);
});

test('validation: a start needs a control and a second variant, but a personalization may start with its control alone', () => {
  expect(fields(checkStart(experiment(), []))).toEqual(['variants', 'isControl']);
  expect(fields(checkStart(experiment(), [control]))).toEqual(['variants']);
  expect(fields(checkStart(experiment(), [variant('a'), variant('b')]))).toEqual(['isControl']);
  expect(checkStart(experiment({ type: 'personalization' }), [control])).toEqual([]);
  expect(fields(checkStart(experiment({ type: 'multivariate' }), [control]))).toEqual(['variants']);
});

test('validation: weights sum to at most 100, exactly', () => {
  const third = (id: string) => variant(id, { weight: 33.33 });
  expect(checkVariants(experiment(), [control, third('a'), third('b'), third('c')])).toEqual([]);
  const full = [variant('a', { weight: 99.99 }), variant('b', { weight: 0.01 })];
  expect(checkVariants(experiment(), [control, ...full])).toEqual([]);
  expect(checkVariants(experiment(), [control, ...full, variant('c', { weight: 0.01 })])).toEqual([
    { field: 'weight', problem: 'weights must sum to at most 100, not 100.01' },
  ]);
  expect(fields(checkVariants(experiment(), [{ ...control, weight: 60 }, variant('a', { weight: 41 })]))).toEqual([
    'weight',
  ]);
});

test.each(['https://example.com/b', 'http://example.com', '/b', '/b?c=d#e'])('validation: %s is a redirect', (to) => {
  expect(checkVariant(variant('v', { redirect: to }))).toEqual([]);
});

test.each(['javascript:alert(1)', '//evil.example', '/\\evil.example', 'b', 'https://', 'data:text/html,x', '/a\nb'])(
  'validation: %j is refused as a redirect',
  (to) => {
    expect(fields(checkVariant(variant('v', { redirect: to })))).toEqual(['redirect']);
  },
);

test('validation: the number of properties is limited, and so is the length of their names', () => {
  const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'x']));
  const many = Array.from({ length: 201 }, (_, index) => `p${String(index)}`);
  expect(checkVariant(variant('v', { properties: named(many.slice(1)) }))).toEqual([]);
  expect(fields(checkVariant(variant('v', { properties: named(many) })))).toEqual(['properties']);
  expect(fields(checkVariant(variant('v', { properties: named(['']) })))).toEqual(['properties']);
  expect(fields(checkVariant(variant('v', { properties: named(['x'.repeat(251)]) })))).toEqual(['properties']);
});

test('validation: once an experiment has started, no variant can be deleted and the control cannot change', () => {
  const other = variant('new');
  for (const status of ['Running', 'Paused', 'Completed'] as const) {
    expect(fields(checkVariantChange(experiment({ status }), other, undefined))).toEqual(['id']);
    expect(fields(checkVariantChange(experiment({ status }), other, { ...other, isControl: true }))).toEqual([
      'isControl',
    ]);
    expect(checkVariantChange(experiment({ status }), other, { ...other, weight: 10, name: 'x' })).toEqual([]);
  }
  expect(checkVariantChange(experiment(), other, undefined)).toEqual([]);
  expect(checkVariantChange(experiment(), other, { ...other, isControl: true })).toEqual([]);
});

test('validation: settings have a generated token, and domains without a scheme', () => {
  const { token } = generateExperimentSettings((length) => 'a'.repeat(length));
  expect(token).toMatch(/^exp_a{32}$/);
  expect(checkExperimentSettings({ name: null, isEnabled: true, token, whitelistDomains: null })).toEqual([]);
  expect(
    checkExperimentSettings({ name: null, isEnabled: true, token, whitelistDomains: ['example.com', 'localhost'] }),
  ).toEqual([]);
  expect(
    fields(checkExperimentSettings({ name: null, isEnabled: true, token, whitelistDomains: ['https://example.com'] })),
  ).toEqual(['whitelistDomains']);
});
