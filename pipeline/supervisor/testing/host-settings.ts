import { dispatcherDefaults } from '../../dispatch/dispatcher-context.ts';
import type { HostSettings } from '../../host/host-settings.ts';
import { resolverDefaults } from '../../resolve/resolver-context.ts';

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
