import { expect, test } from 'vitest';
import { collectionNames } from '../../../shared/contracts/config/account-config.ts';
import type { AccountConfig, Snapshot, SnapshotEntity } from '../../../shared/contracts/config/account-config.ts';
import { compileResolvePlan } from './resolve-plan.ts';

function config(collections: Partial<Record<keyof Snapshot, readonly SnapshotEntity[]>>): AccountConfig {
  const empty = Object.fromEntries(collectionNames.map((name) => [name, []])) as unknown as Snapshot;
  return {
    format: 1,
    accountId: 'account',
    versionId: 'version',
    versionNumber: 1,
    publishedAt: '2026-01-01T00:00:00.000Z',
    sourceKeys: [],
    collections: { ...empty, ...collections },
  };
}

test('resolve plan: an account without allowed events lets every name through', () => {
  expect(compileResolvePlan(config({})).allows('Anything')).toBe(true);
});

test('resolve plan: names match without case, unknown ones do not pass, those of the service do', () => {
  const plan = compileResolvePlan(config({ allowedEvents: [{ id: '1', name: 'Sign Up', destinationIds: [] }] }));
  expect(['sign up', 'SIGN UP', 'Signup', '$identify'].map((name) => plan.allows(name))).toEqual([
    true,
    true,
    false,
    true,
  ]);
});

test('resolve plan: carries what a source asks for, and asks nothing of an unknown source', () => {
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
        { id: 's2', botControlMode: null, botScoreThreshold: null, excludeRequestContext: null },
      ],
    }),
  );
  expect(plan.sourceRules('s1')).toEqual({
    botControl: { mode: 'Threshold', threshold: 30 },
    excludeRequestContext: true,
    isVisitorsConnection: true,
  });
  expect(plan.sourceRules('s2').excludeRequestContext).toBe(false);
  expect(plan.sourceRules('gone')).toMatchObject({ botControl: { mode: 'Allow' }, excludeRequestContext: false });
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
