import { onTestFinished, expect, test } from 'vitest';
import pino from 'pino';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { accountConfig, httpEntity } from '../testing/account-config.ts';
import { followAccounts } from './follow-accounts.ts';

test('follow accounts: delivers: only to destinations that are live and enabled', async () => {
  const destinations = [
    httpEntity('enabled', 'https://example.com/'),
    httpEntity('disabled', 'https://example.com/', { status: 'Disabled' }),
  ];
  const value = encodeAccountConfig(accountConfig('account-1', { destinations }));
  const bucket: Pick<Bucket, 'watch'> = {
    watch: async ({ onEntry, onReady }) => {
      onEntry({ key: accountKey('account-1'), value, revision: 1, storedAtMs: 0 });
      onReady?.();
      return { stop: () => undefined, stopped: Promise.resolve() };
    },
  };
  const accounts = await followAccounts({
    bucket: bucket as Bucket,
    trust: { accept: () => undefined },
    connection: { onReconnect: () => () => undefined } as unknown as LogConnection,
    supervisor: { configure: async () => undefined },
    placement: { want: async () => undefined, drop: async () => true },
    unreadable: { note: () => undefined },
    logger: pino({ level: 'silent' }),
    onApplied: () => undefined,
    onDropped: () => undefined,
  });
  onTestFinished(() => accounts.stop());
  await expect.poll(() => accounts.applied).toBe(1);
  const delivers = (id: string, accountId = 'account-1'): boolean => accounts.delivers(accountId, id);
  expect(['enabled', 'disabled', 'unknown'].map((id) => delivers(id))).toEqual([true, false, false]);
  expect(delivers('enabled', 'account-2')).toBe(false);
  expect(accounts.destinationsOf('account-1')).toEqual(['enabled', 'disabled']);
});
