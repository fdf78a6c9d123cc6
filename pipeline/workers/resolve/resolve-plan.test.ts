import { expect, test } from 'vitest';
import { testLiveConfig as config } from '../../../shared/testing/test-account-config.ts';
import { compileResolvePlan } from './resolve-plan.ts';

test('resolve plan: an account without allowed events lets every name through', () => {
  expect(compileResolvePlan(config({})).allows('Anything')).toBe(true);
});

test('resolve plan: event names match in any letter case; unknown names are refused, names of the service’s own events are not', () => {
  const plan = compileResolvePlan(config({ allowedEvents: [{ id: '1', name: 'Sign Up', destinationIds: [] }] }));
  expect(['sign up', 'SIGN UP', 'Signup', '$identify'].map((name) => plan.allows(name))).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('resolve plan: contains the rules that a source sets, and default rules for an unknown source', () => {
  const plan = compileResolvePlan(
    config({
      sources: [
        {
          id: 's1',
          type: 'WebSource',
          botControlMode: 'Threshold',
          botScoreThreshold: 30,
          excludeRequestContext: true,
        },
        { id: 's2', type: 'WebSource', botControlMode: null, botScoreThreshold: null, excludeRequestContext: null },
      ],
    }),
  );
  expect(plan.sourceRules('s1')).toEqual({
    botControl: { mode: 'Threshold', threshold: 30 },
    excludeRequestContext: true,
    isVisitorsConnection: true,
    isSigned: expect.any(Function),
    keyTrust: 'public',
  });
  expect(plan.sourceRules('s2').excludeRequestContext).toBe(false);
  expect(plan.sourceRules('gone')).toMatchObject({ botControl: { mode: 'Allow' }, excludeRequestContext: false });
});

test('resolve plan: a source that cannot be read excludes the request context, and an invalid threshold is left out', () => {
  const plan = compileResolvePlan(
    config({
      sources: [
        { id: 'lost', type: 'WebSource', excludeRequestContext: 'yes' },
        {
          id: 's',
          type: 'WebSource',
          botControlMode: 'Threshold',
          botScoreThreshold: 'high',
          excludeRequestContext: true,
        },
      ],
    }),
  );
  expect(plan.sourceRules('lost')).toMatchObject({ botControl: { mode: 'Allow' }, excludeRequestContext: true });
  expect(plan.sourceRules('s')).toEqual({
    botControl: { mode: 'Threshold', threshold: undefined },
    excludeRequestContext: true,
    isVisitorsConnection: true,
    isSigned: expect.any(Function),
    keyTrust: 'public',
  });
});

test('resolve plan: an allowed event that cannot be read allows no name, and does not make all names allowed', () => {
  const plan = compileResolvePlan(config({ allowedEvents: [{ id: '1', destinationIds: [] }] }));
  expect(['Anything', 'undefined', '$identify'].map((name) => plan.allows(name))).toEqual([false, false, true]);
});

test.each([
  ...['WebSource', 'PixelImage', 'RedirectSource', 'AndroidNativeApi', 'iOSNativeApi', 'ReactNativeApi'].map(
    (type) => [type, true] as const,
  ),
  ...['NodejsApi', 'HTTPApiSource', 'Webhook', 'TypeformWebhooks', 'SegmentWebPlugin', 'of a newer build'].map(
    (type) => [type, false] as const,
  ),
])('resolve plan: the connection of %s is the visitor’s: %s', (type, isVisitors) => {
  const plan = compileResolvePlan(config({ sources: [{ id: 's', type }] }));
  expect(plan.sourceRules('s').isVisitorsConnection).toBe(isVisitors);
  expect(plan.sourceRules('gone').isVisitorsConnection).toBe(false);
});

test.each([
  ['WebSource', 'public'],
  ['PixelImage', 'public'],
  ['RedirectSource', 'public'],
  ['iOSNativeApi', 'public'],
  ['of a newer build', 'public'],
  ['NodejsApi', 'server'],
  ['Webhook', 'server'],
])('resolve plan: the key of %s is %s, and that of an unknown source is public', (type, trust) => {
  const plan = compileResolvePlan(config({ sources: [{ id: 's', type }] }));
  expect(plan.sourceRules('s').keyTrust).toBe(trust);
  expect(plan.sourceRules('gone').keyTrust).toBe('public');
});
