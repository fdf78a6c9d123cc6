import { expect, test } from 'vitest';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { testLiveConfig } from '../../shared/testing/test-account-config.ts';
import { PublishedSources } from './published-sources.ts';

const account = (accountId: string, keys: Readonly<Record<string, string>>, sources: readonly SnapshotEntity[]) => {
  const sourceKeys = Object.entries(keys).map(([token, sourceId]) => ({
    keyHash: hashSourceKey(token),
    sourceId,
    test: token.startsWith('test'),
  }));
  return { accountId, revision: 1, config: testLiveConfig({ sources }, { accountId, sourceKeys }) };
};

const source = (id: string, fields: object = {}): SnapshotEntity => ({
  id,
  type: 'NodejsApi',
  status: 'Enabled',
  ...fields,
});
const create = (): PublishedSources =>
  new PublishedSources({ eventsPerS: 10, bytesPerS: 1_000, burstS: 2 }, () => undefined);

test('published sources: a key leads to its source as long as the source is published and Enabled', () => {
  const sources = create();
  sources.apply(
    account('one', { live: 's1', test: 's1', off: 's2', gone: 's3' }, [
      source('s1'),
      source('s2', { status: 'Disabled' }),
    ]),
  );
  expect(sources.byToken('live')).toMatchObject({ accountId: 'one', sourceId: 's1', test: false });
  expect(sources.byToken('test')?.test).toBe(true);
  expect(['off', 'gone', 'nobody', '', 'x'.repeat(300)].map((token) => sources.byToken(token))).toEqual(
    Array.from({ length: 5 }),
  );
});

test('published sources: a new configuration applies from the next request on', () => {
  const sources = create();
  expect(sources.byToken('live')).toBeUndefined();
  sources.apply(account('one', { live: 's1' }, [source('s1')]));
  expect(sources.byToken('live')).toBeDefined();
  sources.apply(account('one', { rotated: 's1' }, [source('s1')]));
  expect(sources.byToken('live')).toBeUndefined();
  expect(sources.byToken('rotated')).toBeDefined();
  sources.apply({ accountId: 'one', revision: 3, config: undefined });
  expect(sources.byToken('rotated')).toBeUndefined();
  expect(sources.keyCount).toBe(0);
});

test('published sources: a change of one account does not affect another account', () => {
  const sources = create();
  sources.apply(account('one', { a: 's1' }, [source('s1')]));
  sources.apply(account('two', { b: 's2' }, [source('s2')]));
  sources.apply(account('one', {}, []));
  expect(sources.byToken('a')).toBeUndefined();
  expect(sources.byToken('b')?.accountId).toBe('two');
});

test('published sources: the rate limit and the activity of a source outlast a new revision', () => {
  const sources = create();
  const change = account('one', { live: 's1' }, [source('s1')]);
  sources.apply(change);
  const before = sources.byToken('live');
  expect(before?.limits.events.take(before.keyHash, 20, Date.now())).toBe(0);
  sources.apply(change);
  const after = sources.byToken('live');
  expect(after?.limits.events.waitMs(after.keyHash, 20, Date.now())).toBeGreaterThan(0);
  expect(after?.activity).toBe(before?.activity);
});

test('published sources: if a document cannot be read, the earlier configuration stays in force', () => {
  const sources = create();
  const good = account('one', { live: 's1' }, [source('s1')]);
  sources.apply(good);
  const broken = { ...good, config: { ...good.config, sourceKeys: undefined as unknown as [] } };
  expect(() => sources.apply(broken)).toThrow(TypeError);
  expect(sources.byToken('live')).toBeDefined();
  expect(sources.bySourceId('s1')).toBeDefined();
});

test('published sources: a source that cannot be read accepts no events', () => {
  const sources = create();
  sources.apply(account('one', { live: 's1' }, [source('s1', { whitelistIps: 'text' })]));
  expect(sources.byToken('live')).toBeUndefined();
});

test('published sources: a source from an earlier or later build, with unknown values, limits and fields, may send', () => {
  const sources = create();
  const other = {
    type: 'NewSource',
    botControlMode: 'Guess',
    botScoreThreshold: 'high',
    name: 'x'.repeat(900),
    more: 1,
  };
  sources.apply(account('one', { live: 's1' }, [source('s1', other)]));
  expect(sources.byToken('live')).toMatchObject({ type: 'NewSource', scoresBots: false });
});

test('published sources: redirects lead only to web addresses', () => {
  const sources = create();
  const link = (redirectUrl: unknown) => source('s1', { type: 'RedirectSource', redirectUrl });
  const target = (redirectUrl: unknown): string | undefined => {
    sources.apply(account('one', { live: 's1' }, [link(redirectUrl)]));
    return sources.bySourceId('s1')?.redirectUrl;
  };
  expect(target('https://a.test/x\r\ny: z')).toBe('https://a.test/xy:%20z');
  expect(target('javascript:alert(1)')).toBeUndefined();
  expect(target('/relative')).toBeUndefined();
  expect(target(null)).toBeUndefined();
});

test('published sources: an unpublished source is forgotten once its activity is reported, and its events stay counted', () => {
  const sources = create();
  sources.apply(account('one', { a: 's1', b: 's2' }, [source('s1'), source('s2')]));
  for (const token of ['a', 'b']) {
    const { tally } = sources.byToken(token) ?? {};
    if (tally !== undefined) tally.stored += 3;
  }
  sources.apply(account('one', { a: 's1' }, [source('s1')]));
  expect(sources.forgetUnpublished(() => false)).toEqual([]);
  expect(sources.forgetUnpublished(() => true)).toEqual(['s2']);
  expect([...sources.activities].map(({ sourceId }) => sourceId)).toEqual(['s1']);
  expect(sources.tallies.get('NodejsApi')?.stored).toBe(6);
  sources.apply(account('one', { b: 's2' }, [source('s2')]));
  expect(sources.tallies.get('NodejsApi')?.stored).toBe(6);
});
