import { onTestFinished, expect, test } from 'vitest';
import pino from 'pino';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { UntrustedConfigError } from '../../shared/contracts/config/signed-config.ts';
import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import type { Bucket, WatchOptions } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { accountConfig, httpEntity } from '../testing/account-config.ts';
import { followAccounts } from './follow-accounts.ts';

/** Follows a scripted bucket; its entries go to the returned watch. */
async function follow(trust: ConfigTrust = { accept: () => undefined }) {
  let watch: WatchOptions | undefined;
  const bucket: Pick<Bucket, 'watch'> = {
    watch: async (options) => {
      watch = options;
      return { stop: () => undefined, stopped: Promise.resolve() };
    },
  };
  const accounts = await followAccounts({
    bucket: bucket as Bucket,
    trust,
    connection: { onReconnect: () => () => undefined } as unknown as LogConnection,
    supervisor: { configure: async () => undefined },
    placement: { want: async () => undefined, drop: async () => true },
    unreadable: { note: () => undefined },
    logger: pino({ level: 'silent' }),
    onApplied: () => undefined,
    onDropped: () => undefined,
  });
  onTestFinished(() => accounts.stop());
  const put = (accountId: string, revision: number, entities: Parameters<typeof accountConfig>[1] = {}): void => {
    const value = encodeAccountConfig(accountConfig(accountId, entities));
    watch?.onEntry({ key: accountKey(accountId), value, revision, storedAtMs: 0 });
  };
  return { accounts, put, ready: () => watch?.onReady?.() };
}

test('follow accounts: delivers: only to destinations that are live and enabled', async () => {
  const destinations = [
    httpEntity('enabled', 'https://example.com/'),
    httpEntity('disabled', 'https://example.com/', { status: 'Disabled' }),
  ];
  const { accounts, put, ready } = await follow();
  put('account-1', 1, { destinations });
  ready();
  await expect.poll(() => accounts.applied).toBe(1);
  const delivers = (id: string, accountId = 'account-1'): boolean => accounts.delivers(accountId, id);
  expect(['enabled', 'disabled', 'unknown'].map((id) => delivers(id))).toEqual([true, false, false]);
  expect(delivers('enabled', 'account-2')).toBe(false);
  expect(accounts.destinationsOf('account-1')).toEqual(['enabled', 'disabled']);
});

test('follow accounts: the destinations of an account are unknown while its only configuration is rejected', async () => {
  const signed = new Set(['account-1']);
  const { accounts, put, ready } = await follow({
    accept(accountId) {
      if (!signed.has(accountId)) throw new UntrustedConfigError('it is not signed');
    },
  });
  put('account-1', 1, { destinations: [httpEntity('one', 'https://example.com/')] });
  put('account-2', 2);
  await expect.poll(() => accounts.wanted().size).toBe(1);
  expect(accounts.destinationsOf('account-1')).toBeUndefined();
  ready();
  const known = () => ['account-1', 'account-2', 'account-3'].map((id) => accounts.destinationsOf(id));
  expect([known(), accounts.hasUnknown]).toEqual([[['one'], undefined, []], true]);
  signed.delete('account-1');
  put('account-1', 3);
  signed.add('account-2');
  put('account-2', 4, { destinations: [httpEntity('two', 'https://example.com/')] });
  await expect.poll(() => known()).toEqual([['one'], ['two'], []]);
  expect(accounts.hasUnknown).toBe(false);
});
