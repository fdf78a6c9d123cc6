import { dispatcherDefaults } from '../../workers/dispatch/dispatcher-context.ts';
import type { HostSettings } from '../../threads/host-settings.ts';
import { resolverDefaults } from '../../workers/resolve/resolver-context.ts';

/** Settings for hosts that neither connect nor deliver. */
export const hostSettingsForTests: Omit<HostSettings, 'thread'> = {
  instanceId: 'test',
  logLevel: 'silent',
  log: { url: '' },
  replicas: 1,
  database: { databaseUrl: '' },
  databaseConnectionsMax: 1,
  visitorCacheBytesMax: 0,
  secretsKey: '',
  egressRanges: [],
  resolver: resolverDefaults,
  recent: { perSecondMax: 1, burstMax: 1, eventsMax: 1, ageMaxMs: 1, bodyBytesMax: 1 },
  dispatcher: dispatcherDefaults,
};
