import { defaultsOf } from '../../../shared/runtime/env.ts';
import { dispatcherEnv, readDispatcherSettings } from '../../workers/dispatch/dispatcher-settings.ts';
import { recentEnv, readRecentSettings } from '../../workers/recent/recent-settings.ts';
import { hostEnv } from '../../threads/host-settings.ts';
import type { HostSettings } from '../../threads/host-settings.ts';
import { readResolverSettings, resolverEnv } from '../../workers/resolve/resolver-settings.ts';
import { readResultsSettings, resultsEnv } from '../../workers/results/results-settings.ts';

/** Settings for hosts that neither connect nor deliver. */
export const hostSettingsForTests: Omit<HostSettings, 'thread'> = {
  instanceId: 'test',
  logLevel: 'silent',
  log: { url: '' },
  replicas: 1,
  retryLogBytesMax: 1024 ** 2,
  partitions: 1,
  database: { databaseUrl: '' },
  databaseConnectionsMax: 1,
  visitorCacheBytesMax: 0,
  visitorBytesMax: 32 * 1024,
  secretKeys: [''],
  egress: { allowed: [], denied: [] },
  resolver: readResolverSettings(defaultsOf(resolverEnv)),
  recent: readRecentSettings(defaultsOf(recentEnv)),
  results: readResultsSettings(defaultsOf(resultsEnv)),
  dispatcher: readDispatcherSettings(defaultsOf(dispatcherEnv)),
  roundWorkMax: defaultsOf(dispatcherEnv).DISPATCH_ROUND_WORK_MAX,
  accountWorkPerMs: defaultsOf(hostEnv).PIPELINE_ACCOUNT_WORK_PER_S / 1_000,
  framesBytesMax: defaultsOf(dispatcherEnv).DISPATCH_FRAMES_BYTES_MAX,
  openedFramesBytesMax: defaultsOf(dispatcherEnv).DISPATCH_OPENED_FRAMES_BYTES_MAX,
  geoDatabase: undefined,
  fetchUrls: {},
};
