import { defaultsOf } from '../../../shared/runtime/env.ts';
import { dispatcherEnv, readDispatcherSettings } from '../../workers/dispatch/dispatcher-settings.ts';
import { fetchEnv, readFetchUrls } from '../../workers/dispatch/fetch-settings.ts';
import { recentEnv, readRecentSettings } from '../../workers/recent/recent-settings.ts';
import { hostEnv, readThreadSettings } from '../../threads/host-settings.ts';
import type { HostSettings } from '../../threads/host-settings.ts';
import { readResolverSettings, resolverEnv } from '../../workers/resolve/resolver-settings.ts';

/** Settings for hosts that neither connect nor deliver. */
export const hostSettingsForTests: Omit<HostSettings, 'thread'> = {
  ...readThreadSettings(defaultsOf(hostEnv)),
  databaseConnectionsMax: 1,
  visitorCacheBytesMax: 0,
  instanceId: 'test',
  logLevel: 'silent',
  log: { url: '' },
  replicas: 1,
  retryLogBytesMax: 1024 ** 2,
  partitions: 1,
  database: { databaseUrl: '' },
  secretKeys: [''],
  egress: { allowed: [], denied: [] },
  resolver: readResolverSettings(defaultsOf(resolverEnv)),
  recent: readRecentSettings(defaultsOf(recentEnv)),
  dispatcher: readDispatcherSettings(defaultsOf(dispatcherEnv)),
  fetchUrls: readFetchUrls(defaultsOf(fetchEnv)),
};
