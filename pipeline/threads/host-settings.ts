import type { Static, TObject } from 'typebox';
import { readSecretKeys } from '../../shared/contracts/config/secrets.ts';
import type { secretsEnv } from '../../shared/contracts/config/secrets.ts';
import { logAccess } from '../../shared/nats/connection/log-access.ts';
import type { logEnv } from '../../shared/nats/connection/log-access.ts';
import type { topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { readEgressRanges } from '../../shared/egress/egress-rules.ts';
import type { egressEnv } from '../../shared/egress/egress-rules.ts';
import { databaseAccess } from '../../shared/postgres/database-access.ts';
import type { databaseEnv } from '../../shared/postgres/database-access.ts';
import type { serviceEnv } from '../../shared/runtime/service-settings.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, optionalText } from '../../shared/runtime/variables.ts';
import { visitorSizeEnv } from '../../shared/visitors/visitor-size.ts';
import { framesBytes, readDispatcherSettings } from '../workers/dispatch/dispatcher-settings.ts';
import type { dispatcherEnv } from '../workers/dispatch/dispatcher-settings.ts';
import { readFetchUrls } from '../workers/dispatch/fetch-settings.ts';
import type { fetchEnv } from '../workers/dispatch/fetch-settings.ts';
import { readRecentSettings } from '../workers/recent/recent-settings.ts';
import type { recentEnv } from '../workers/recent/recent-settings.ts';
import { readResolverSettings } from '../workers/resolve/resolver-settings.ts';
import type { resolverEnv } from '../workers/resolve/resolver-settings.ts';

const mebibyte = 1024 ** 2;

/** Settings of every thread. */
export const { variables: hostEnv, read: readThreadSettings } = defineSettings({
  databaseConnectionsMax: fromEnv({
    PIPELINE_DATABASE_CONNECTIONS_MAX: count(
      'PostgreSQL connections of one thread. If there are several, one is reserved for looking up visitors',
      4,
    ),
  }),
  visitorCacheBytesMax: fromEnv({
    PIPELINE_VISITOR_CACHE_BYTES_MAX: count("Memory of one thread's cache of visitors", 64 * mebibyte, {
      unit: 'bytes',
      minimum: mebibyte,
    }),
  }),
  visitorBytesMax: fromEnv(visitorSizeEnv),
  /** Cost budget of one account for its rules and requests in a round of the thread, in units of work. */
  roundWorkMax: 100_000,
  /**
   * Cost budget of one account per millisecond of the thread, in units of work, while another account has work there.
   * About 100,000 units occupy the whole thread.
   */
  accountWorkPerMs: 30_000,
  framesBytesMax: fromEnv(framesBytes),
  /**
   * Bytes of opened frames that a thread caches for a short time, so that each frame is opened once for all
   * destinations of its account.
   */
  openedFramesBytesMax: 16 * mebibyte,
  geoDatabase: fromEnv({
    GEOIP_DATABASE: optionalText(
      "Path of a database of countries or cities in MaxMind's format (.mmdb), of which each thread holds a copy. It gives the region of an IP address to consent purposes that apply in some regions only, if the visitor has no region. Without this database such a region is unknown and counts as covered",
    ),
  }),
});

type HostVariables = Static<
  TObject<
    typeof hostEnv &
      typeof logEnv &
      typeof topologyEnv &
      typeof databaseEnv &
      typeof secretsEnv &
      Pick<typeof serviceEnv, 'LOG_LEVEL'> &
      typeof resolverEnv &
      typeof recentEnv &
      typeof dispatcherEnv &
      typeof egressEnv &
      typeof fetchEnv
  >
>;

/**
 * The settings that a thread gets at its start, except its index; plain data, so that they can be sent to the thread.
 */
export function readHostSettings(
  env: HostVariables,
  { instanceId, partitions }: { readonly instanceId: string; readonly partitions: number },
) {
  return {
    ...readThreadSettings(env),
    instanceId,
    /** Number of partitions with which INGEST was created. */
    partitions,
    logLevel: env.LOG_LEVEL as string,
    log: logAccess(env),
    replicas: env.LOG_REPLICAS,
    retryLogBytesMax: env.LOG_RETRY_BYTES_MAX,
    database: databaseAccess(env),
    secretKeys: readSecretKeys(env),
    egress: readEgressRanges(env),
    resolver: readResolverSettings(env),
    recent: readRecentSettings(env),
    dispatcher: readDispatcherSettings(env),
    fetchUrls: readFetchUrls(env),
  };
}

export type HostSettings = Readonly<ReturnType<typeof readHostSettings>> & {
  /** Index of the thread, for log lines and connection names. */
  readonly thread: number;
};
