import type { Static, TObject } from 'typebox';
import { readSecretKeys } from '../../shared/contracts/config/secrets.ts';
import type { secretsEnv } from '../../shared/contracts/config/secrets.ts';
import { logAccess } from '../../shared/nats/connection/log-access.ts';
import type { LogAccess, logEnv } from '../../shared/nats/connection/log-access.ts';
import type { topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { readEgressRanges } from '../../shared/egress/egress-rules.ts';
import type { EgressRanges, egressEnv } from '../../shared/egress/egress-rules.ts';
import { databaseAccess } from '../../shared/postgres/database-access.ts';
import type { DatabaseAccess, databaseEnv } from '../../shared/postgres/database-access.ts';
import type { serviceEnv } from '../../shared/runtime/env.ts';
import { count } from '../../shared/runtime/variables.ts';
import { readDispatcherSettings } from '../workers/dispatch/dispatcher-settings.ts';
import type { DispatcherSettings, dispatcherEnv } from '../workers/dispatch/dispatcher-settings.ts';
import { readFetchUrls } from '../workers/dispatch/fetch-settings.ts';
import type { FetchUrls, fetchEnv } from '../workers/dispatch/fetch-settings.ts';
import { readRecentSettings } from '../workers/recent/recent-settings.ts';
import type { RecentSettings, recentEnv } from '../workers/recent/recent-settings.ts';
import { readResolverSettings } from '../workers/resolve/resolver-settings.ts';
import type { ResolverSettings, resolverEnv } from '../workers/resolve/resolver-settings.ts';
import { readResultsSettings } from '../workers/results/results-settings.ts';
import type { ResultsSettings, resultsEnv } from '../workers/results/results-settings.ts';

const kibibyte = 1024;
const mebibyte = 1024 ** 2;

/** Plain data that a thread gets when it starts. */
export type HostSettings = {
  readonly instanceId: string;
  /** Index of the thread, for names in logs and of connections. */
  readonly thread: number;
  readonly logLevel: string;
  readonly log: LogAccess;
  readonly replicas: number;
  /** Size of the retry log, in bytes. */
  readonly retryLogBytesMax: number;
  /** Partitions of the ingest stream, as it was made. */
  readonly partitions: number;
  readonly database: DatabaseAccess;
  readonly databaseConnectionsMax: number;
  readonly visitorCacheBytesMax: number;
  /** Maximum size of one visitor's properties. */
  readonly visitorBytesMax: number;
  /** Keys that open secrets: see createSecretBox. */
  readonly secretKeys: readonly [string, ...string[]];
  /** CIDR ranges open to destinations on top of public addresses. */
  readonly egress: EgressRanges;
  readonly resolver: ResolverSettings;
  readonly recent: RecentSettings;
  readonly results: ResultsSettings;
  readonly dispatcher: DispatcherSettings;
  /** Cost budget for the rules of one account in a round of the thread, in units of work. */
  readonly roundWorkMax: number;
  /** Cost budget of one account per millisecond of the thread while another account has work, in units of work. */
  readonly accountWorkPerMs: number;
  /** Approximate bytes of opened frames that several dispatchers of an account on the thread read. */
  /** Approximate bytes of frames that all dispatchers of a thread hold. */
  readonly framesBytesMax: number;
  readonly openedFramesBytesMax: number;
  readonly fetchUrls: FetchUrls;
  /** Path of a database that maps addresses to locations. */
  readonly geoDatabase: string | undefined;
};

/** Settings of every thread. */
export const hostEnv = {
  PIPELINE_DATABASE_CONNECTIONS_MAX: count(
    'Connections to PostgreSQL of one thread. With more than one, one is reserved for looking up visitors',
    4,
  ),
  PIPELINE_VISITOR_CACHE_BYTES_MAX: count("Memory of one thread's cache of visitors", 64 * mebibyte, {
    unit: 'bytes',
    minimum: mebibyte,
  }),
  PIPELINE_ACCOUNT_WORK_PER_S: count(
    'Cost budget of one account per second of a thread while another account has work there, for its rules and requests, in units of work as in DISPATCH_EVENT_WORK_MAX: about 100 million occupy the whole thread. Work beyond it waits',
    30_000_000,
    { minimum: 1_000_000 },
  ),
  VISITOR_BYTES_MAX: count(
    "Maximum size of a visitor's properties as JSON. A change that exceeds it is skipped and the profile stays unchanged",
    32 * kibibyte,
    { unit: 'bytes', minimum: kibibyte, maximum: 128 * kibibyte },
  ),
};

type HostSlices = typeof hostEnv &
  typeof logEnv &
  typeof topologyEnv &
  typeof databaseEnv &
  typeof secretsEnv &
  Pick<typeof serviceEnv, 'LOG_LEVEL'> &
  typeof resolverEnv &
  typeof recentEnv &
  typeof resultsEnv &
  typeof dispatcherEnv &
  typeof egressEnv &
  typeof fetchEnv;
type HostVariables = Static<TObject<HostSlices>>;

export function readHostSettings(
  env: HostVariables,
  { instanceId, partitions }: Pick<HostSettings, 'instanceId' | 'partitions'>,
): Omit<HostSettings, 'thread'> {
  return {
    instanceId,
    logLevel: env.LOG_LEVEL,
    log: logAccess(env),
    replicas: env.LOG_REPLICAS,
    retryLogBytesMax: env.LOG_RETRY_BYTES_MAX,
    partitions,
    database: databaseAccess(env),
    databaseConnectionsMax: env.PIPELINE_DATABASE_CONNECTIONS_MAX,
    visitorCacheBytesMax: env.PIPELINE_VISITOR_CACHE_BYTES_MAX,
    visitorBytesMax: env.VISITOR_BYTES_MAX,
    secretKeys: readSecretKeys(env),
    egress: readEgressRanges(env),
    resolver: readResolverSettings(env),
    recent: readRecentSettings(env),
    results: readResultsSettings(env),
    dispatcher: readDispatcherSettings(env),
    roundWorkMax: env.DISPATCH_ROUND_WORK_MAX,
    accountWorkPerMs: env.PIPELINE_ACCOUNT_WORK_PER_S / 1_000,
    framesBytesMax: env.DISPATCH_FRAMES_BYTES_MAX,
    geoDatabase: env.GEOIP_DATABASE,
    openedFramesBytesMax: env.DISPATCH_OPENED_FRAMES_BYTES_MAX,
    fetchUrls: readFetchUrls(env),
  };
}
